// A device host that misbehaves on demand: `keyPath` of a prove request names the behaviour.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

process.on('disconnect', () => process.exit(0));
const deviceCount = Number(process.env.FAKE_DEVICES ?? 1);
const probe = {
  available: true,
  version: '1',
  devices: Array.from({ length: deviceCount }, (_, i) => ({
    ...{ id: String(i), name: 'fake', memoryBytes: 1 },
  })),
};
const timers = new Map();

function prove(id, { keyPath, backend, device, keyDigest, source }) {
  const event = (name) =>
    process.send({
      id,
      event: {
        ...{ atMicros: Date.now() * 1000, event: name, device: `${backend}:${device}` },
        ...(source && { partition: source.partition }),
      },
    });
  const result = {
    ...(source === undefined
      ? {
          proof: { pi_a: [], pi_b: [], pi_c: [], protocol: 'groth16', curve: 'bn128' },
          public: [String(process.pid)],
        }
      : { proof: source.partition.toString(16).padStart(384, '0') }),
    keyDigest,
    backend,
    device,
    attempts: 1,
    verified: true,
  };
  process.send({ residents: [{ backend, digest: keyDigest, bytes: 1, lastUsedMicros: 2 }] });
  event('GPU_START');
  if (keyPath.endsWith('crash')) process.kill(process.pid, 'SIGKILL');
  // Ends once, at the second partition; then there is such a file.
  if (keyPath.endsWith('once') && source.partition === 1 && !existsSync(keyPath)) {
    writeFileSync(keyPath, '');
    process.kill(process.pid, 'SIGKILL');
  }
  if (keyPath.endsWith('spin')) for (;;);
  if (keyPath.endsWith('hang')) return;
  if (keyPath.endsWith('refuse')) {
    event('GPU_END');
    const data = { subject: 'witness', expected: 'x', actual: 'y' };
    process.send({ id, error: { code: 'ERR_FORMAT', data } });
    return;
  }
  process.send({ id, progress: 0.5 });
  const beating = keyPath.endsWith('beating');
  if (beating) setInterval(() => process.send({ beat: true }), 100);
  const delay = beating ? 1000 : keyPath.endsWith('slow') ? 150 : 0;
  timers.set(
    id,
    setTimeout(() => {
      event('GPU_END');
      process.send({ id, result });
    }, delay),
  );
}

/** Digests of the keys that it says it has loaded. */
const loaded = new Set();

function tellLoaded(backend) {
  const residents = [...loaded].map((digest) => ({ backend, digest, bytes: 7, lastUsedMicros: 2 }));
  process.send({ residents });
}

process.on('message', ({ id, operation, params, abort }) => {
  if (abort !== undefined && timers.has(abort)) {
    clearTimeout(timers.get(abort));
    process.send({ id: abort, error: { code: 'ERR_CANCELLED', data: { jobId: String(abort) } } });
  }
  if (operation === 'probe') {
    const none = { available: false, reason: 'no driver' };
    process.send({
      id,
      result: [
        { name: 'cuda', probe: none },
        { name: 'cpu', probe },
        { name: 'cpu-reference', probe },
      ],
    });
  }
  // Its statement files hold what the real host reads from them.
  if (operation === 'statement') {
    process.send({ id, result: JSON.parse(readFileSync(params.statement.path, 'utf8')) });
  }
  if (operation === 'loadKey') {
    loaded.add(params.keyDigest);
    tellLoaded(params.backend);
    process.send({ id, result: {} });
  }
  if (operation === 'unloadKey') {
    const bytes = loaded.delete(params.keyDigest) ? 7 : 0;
    tellLoaded('cpu');
    process.send({ id, result: { bytes } });
  }
  if (operation === 'verify') process.send({ id, result: { valid: true } });
  if (operation === 'prove' || operation === 'provePartition') prove(id, params);
});
