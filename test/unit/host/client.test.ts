import { fileURLToPath } from 'node:url';
import { afterEach, expect, it } from 'vitest';
import { HostClient } from '../../../src/host/client.ts';
import type { ProveParams } from '../../../src/host/protocol.ts';

const entry = fileURLToPath(new URL('../../support/fake-host.mjs', import.meta.url));
let host = new HostClient('cpu:0', entry);
afterEach(async () => {
  await host.close();
  host = new HostClient('cpu:0', entry);
});

function params(behaviour: string): ProveParams {
  return {
    jobId: 'job',
    backend: 'cpu',
    device: '0',
    threads: 1,
    keyPath: behaviour,
    keyDigest: 'digest',
    witness: { path: 'w' },
  };
}

it('starts the child with the first call and keeps it', async () => {
  expect(host.pid).toBeUndefined();
  const first = await host.call('prove', params('fine'));
  const second = await host.call('prove', params('fine'));
  expect(second.public).toEqual(first.public);
  expect(host.restarts).toBe(0);
});

it('passes events and progress on before the result', async () => {
  const seen: string[] = [];
  await host.call('prove', params('fine'), {
    onEvent: (event) => seen.push(event.event),
    onProgress: (share) => seen.push(String(share)),
  });
  expect(seen).toEqual(['HOST_BOOT_START', 'HOST_BOOT_END', 'GPU_START', '0.5', 'GPU_END']);
});

it('knows which keys the child has loaded, as long as it lives', async () => {
  await host.call('prove', params('fine'));
  const [key] = host.residents;
  expect(key).toEqual({ backend: 'cpu', digest: 'digest', bytes: 1, lastUsedMicros: 2 });
  await expect(host.call('prove', params('crash'))).rejects.toThrow('signal SIGKILL');
  expect(host.residents).toEqual([]);
});

it('turns an error of the child into the same typed error here', async () => {
  await expect(host.call('prove', params('refuse'))).rejects.toMatchObject({
    code: 'ERR_FORMAT',
    message: 'witness: expected x, got y',
  });
});

it('a crash rejects what ran in the child, and the next call starts another', async () => {
  const crash = host.call('prove', params('crash'));
  const beside = host.call('prove', params('slow'));
  await expect(crash).rejects.toMatchObject({ code: 'ERR_HOST_CRASHED' });
  await expect(beside).rejects.toMatchObject({
    message: 'device host cpu:0: expected it to keep running, got signal SIGKILL',
  });
  await expect(host.call('verify', { proof: 0, public: 0 })).resolves.toEqual({ valid: true });
  expect(host.restarts).toBe(1);
});

it.each(['slow', 'hang', 'spin'])(
  'an aborted call that would %s ends within a second',
  async (how) => {
    await host.call('verify', { proof: 0, public: 0 });
    const controller = new AbortController();
    const call = host.call('prove', params(how), { signal: controller.signal });
    setTimeout(() => controller.abort(), 50);
    const before = performance.now();
    await expect(call).rejects.toMatchObject({ code: 'ERR_CANCELLED' });
    expect(performance.now() - before).toBeLessThan(1050);
  },
);

it('a signal that is aborted before the call starts nothing', async () => {
  const call = host.call('prove', params('fine'), { signal: AbortSignal.abort() });
  await expect(call).rejects.toMatchObject({ code: 'ERR_CANCELLED' });
  expect(host.pid).toBeUndefined();
});

it('refuses calls once it is closed', async () => {
  await host.close();
  await expect(host.call('probe', {})).rejects.toMatchObject({ code: 'ERR_SHUTTING_DOWN' });
});

it.each(['spin', 'hang'])(
  'ends a host that is silent (%s), and only while it has work',
  async (how) => {
    const watched = new HostClient('cpu:0', entry, 400);
    await watched.call('verify', { proof: 0, public: 0 });
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(watched.restarts).toBe(0);
    await expect(watched.call('prove', params(how))).rejects.toMatchObject({
      code: 'ERR_HOST_CRASHED',
    });
    await watched.close();
  },
);

it('leaves a host alone that is slow but alive', async () => {
  const watched = new HostClient('cpu:0', entry, 400);
  await expect(watched.call('prove', params('beating'))).resolves.toMatchObject({ verified: true });
  await watched.close();
});
