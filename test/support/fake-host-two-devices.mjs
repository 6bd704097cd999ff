// The same with two devices a backend.
process.env.FAKE_DEVICES = '2';
await import('./fake-host.mjs');
