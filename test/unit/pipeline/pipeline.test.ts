import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HostClient } from '../../../src/host/client.ts';
import type { StatementTask } from '../../../src/pipeline/filecoin.ts';
import { Pipeline, type ProveTask, type TaskListener } from '../../../src/pipeline/pipeline.ts';
import type { ProverEvent } from '../../../src/telemetry/events.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const entry = fileURLToPath(new URL('../../support/fake-host.mjs', import.meta.url));
let pipeline: Pipeline;
beforeEach(() => {
  pipeline = new Pipeline({ createHost: (device) => new HostClient(device, entry), threads: 1 });
});
afterEach(() => pipeline.close());

function task(jobId: string, behaviour = 'fine'): ProveTask {
  return { jobId, keyPath: behaviour, keyDigest: 'digest', witness: { path: 'w' } };
}

class Recorder implements TaskListener {
  readonly controller = new AbortController();
  readonly events: ProverEvent[] = [];
  startedCount = 0;
  get signal() {
    return this.controller.signal;
  }
  started() {
    this.startedCount++;
  }
  event(event: ProverEvent) {
    this.events.push(event);
  }
  crashes = 0;
  crashed() {
    return ++this.crashes < 3;
  }
  readonly shares: number[] = [];
  progress(share: number) {
    this.shares.push(share);
  }
}

function waitForProgress(listener: Recorder): Promise<void> {
  return new Promise((resolve) => {
    listener.progress = () => resolve();
  });
}

it('takes the first backend that works, and says why another does not', async () => {
  expect((await pipeline.prove(task('a'), new Recorder())).backend).toBe('cpu');
  await expect(
    pipeline.prove({ ...task('b'), backend: 'cuda' }, new Recorder()),
  ).rejects.toMatchObject({ code: 'ERR_BACKEND_UNAVAILABLE', data: { reason: 'no driver' } });
  await expect(
    pipeline.prove({ ...task('c'), backend: 'webgpu' }, new Recorder()),
  ).rejects.toMatchObject({ code: 'ERR_BACKEND_UNAVAILABLE' });
});

it('runs one job at a time on a backend', async () => {
  const order: string[] = [];
  const runs = ['a', 'b', 'c'].map((id) => {
    const listener = new Recorder();
    listener.event = ({ event }) => void order.push(`${id} ${event}`);
    return pipeline.prove(task(id, 'slow'), listener);
  });
  await Promise.all(runs);
  expect(order).toEqual([
    ...['a HOST_BOOT_START', 'a HOST_BOOT_END'],
    ...['a', 'b', 'c'].flatMap((id) => [`${id} GPU_START`, `${id} GPU_END`]),
  ]);
});

it('cancels a waiting job at once and leaves the running one alone', async () => {
  const running = pipeline.prove(task('a', 'slow'), new Recorder());
  const listener = new Recorder();
  const waiting = pipeline.prove(task('b'), listener);
  setTimeout(() => listener.controller.abort(), 20);
  await expect(waiting).rejects.toMatchObject({ code: 'ERR_CANCELLED', data: { jobId: 'b' } });
  expect(listener.startedCount).toBe(0);
  await expect(running).resolves.toMatchObject({ verified: true });
});

it('gives a crashing host up after three starts, ends every open stage and goes on', async () => {
  const listener = new Recorder();
  await expect(pipeline.prove(task('a', 'crash'), listener)).rejects.toMatchObject({
    code: 'ERR_HOST_CRASHED',
  });
  const start = ['HOST_BOOT_START', 'HOST_BOOT_END', 'GPU_START', 'GPU_END'];
  expect(listener.events.map(({ event }) => event)).toEqual([...start, ...start, ...start]);
  expect(listener.events[3]?.attributes).toEqual({ error: 'ERR_HOST_CRASHED' });
  const pauseMs = (from: number) =>
    ((listener.events[from + 1]?.atMicros ?? 0) - (listener.events[from]?.atMicros ?? 0)) / 1000;
  expect(pauseMs(3)).toBeGreaterThan(95);
  expect(pauseMs(7)).toBeGreaterThan(195);
  await expect(pipeline.prove(task('b'), new Recorder())).resolves.toMatchObject({ attempts: 1 });
  expect(pipeline.hosts().find((host) => host.backend === 'cpu')?.restarts).toBe(3);
});

it('shows what each backend does', async () => {
  const listener = new Recorder();
  const run = pipeline.prove(task('a', 'slow'), listener);
  await waitForProgress(listener);
  const [cuda, cpu] = pipeline.hosts();
  expect(cuda).toMatchObject({ available: false, reason: 'no driver', state: 'unavailable' });
  expect(cpu).toMatchObject({ available: true, state: 'proving', jobId: 'a', deviceName: 'fake' });
  await run;
  expect(pipeline.hosts()[1]?.state).toBe('idle');
});

describe('the partitions of a statement', () => {
  const statementTask = (jobId: string, behaviour: string, partitions = 3): StatementTask => ({
    ...{ jobId, keyPath: behaviour, keyDigest: 'digest', statement: { path: 's' }, vanilla: [] },
    facts: {
      ...{ kind: 'porep', sectorSize: '2KiB', registeredProof: 'StackedDrg2KiBV1_1', partitions },
      aggregates: false,
    },
  });
  const proofOf = (...partitions: number[]) =>
    partitions.map((partition) => String(partition).padStart(384, '0')).join('');

  it('are proved one after another, with their results in order', async () => {
    const listener = new Recorder();
    const outcome = await pipeline.proveStatement(statementTask('a', 'fine'), listener);
    expect(outcome).toMatchObject({
      ...{ kind: 'porep', registeredProof: 'StackedDrg2KiBV1_1', proof: proofOf(0, 1, 2) },
      ...{ backend: 'cpu', attempts: 1, keyDigest: 'digest', verified: true },
      partitions: [0, 1, 2].map((partition) => ({ partition, backend: 'cpu', attempts: 1 })),
    });
    expect(outcome).not.toHaveProperty('aggregated');
    expect(listener.startedCount).toBe(1);
    const gpu = listener.events.filter(({ event }) => event === 'GPU_START');
    expect(gpu.map(({ partition }) => partition)).toEqual([0, 1, 2]);
    expect(listener.shares).toEqual([...listener.shares].sort((x, y) => x - y));
  });

  it('can be asked for one by one', async () => {
    const one = { ...statementTask('a', 'fine'), partition: 2 };
    expect((await pipeline.proveStatement(one, new Recorder())).proof).toBe(proofOf(2));
    const none = { ...statementTask('b', 'fine'), partition: 3 };
    await expect(pipeline.proveStatement(none, new Recorder())).rejects.toMatchObject({
      message: 'partition: expected below 3, got 3',
    });
  });

  it('that have a result are not proved again after a crash', async () => {
    const marker = join(temporaryFolder(), 'once');
    const listener = new Recorder();
    const outcome = await pipeline.proveStatement(statementTask('a', marker), listener);
    expect(outcome.proof).toBe(proofOf(0, 1, 2));
    expect(outcome.attempts).toBe(2);
    expect(outcome.partitions.map(({ attempts }) => attempts)).toEqual([1, 2, 1]);
    const gpu = listener.events.filter(({ event }) => event === 'GPU_START');
    expect(gpu.map(({ partition }) => partition)).toEqual([0, 1, 1, 2]);
    expect(listener.crashes).toBe(1);
  });

  it('let a more urgent job in between them, and no other', async () => {
    const order: string[] = [];
    const follow = (id: string) => {
      const listener = new Recorder();
      listener.event = ({ event, partition }) =>
        void (
          /GPU_START|QUEUE/.test(event) && order.push(`${id} ${event} ${partition ?? ''}`.trim())
        );
      return listener;
    };
    const first = pipeline.proveStatement(
      { ...statementTask('a', 'slow', 2), rank: 2 },
      follow('a'),
    );
    const others = [2, 0].map((rank) =>
      pipeline.prove({ ...task(`rank ${rank}`, 'slow'), rank }, follow(`rank ${rank}`)),
    );
    await Promise.all([first, ...others]);
    expect(order).toEqual([
      ...['a GPU_START 0', 'rank 0 GPU_START'],
      ...['a QUEUE_START 1', 'a QUEUE_END 1', 'a GPU_START 1', 'rank 2 GPU_START'],
    ]);
  });

  it('go on while the others drain', async () => {
    const listener = new Recorder();
    const running = pipeline.proveStatement(statementTask('a', 'slow', 2), listener);
    listener.event = ({ event, partition }) => {
      if (event === 'GPU_START' && partition === 0) pipeline.drain();
    };
    await expect(running).resolves.toMatchObject({ proof: proofOf(0, 1) });
  });

  it('end within a second of a cancel', async () => {
    const listener = new Recorder();
    const running = pipeline.proveStatement(statementTask('a', 'slow', 50), listener);
    setTimeout(() => listener.controller.abort(), 400);
    const begin = performance.now();
    await expect(running).rejects.toMatchObject({ code: 'ERR_CANCELLED' });
    expect(performance.now() - begin).toBeLessThan(1400);
  });
});

describe('a key', () => {
  const key = { path: '/key', digest: 'ab', checked: true };
  const { signal } = new AbortController();
  const residents = () => pipeline.hosts().flatMap((host) => host.residents);

  it('is loaded once before a proof needs it, and let go', async () => {
    expect(await pipeline.preload(key, signal)).toBe(true);
    expect(residents()).toEqual([expect.objectContaining({ backend: 'cpu', digest: 'ab' })]);
    expect(await pipeline.preload(key, signal)).toBe(false);
    expect(await pipeline.unload('ab', signal)).toBe(7);
    expect(residents()).toEqual([]);
    expect(await pipeline.unload('ab', signal)).toBe(0);
  });

  it('is loaded and let go between proofs, which a status does not take for one', async () => {
    const order: string[] = [];
    const listener = new Recorder();
    listener.event = ({ event }) => void order.push(event);
    const proof = pipeline.prove(task('a', 'slow'), listener);
    const load = pipeline.preload(key, signal).then(() => order.push('loaded'));
    await Promise.all([proof, load]);
    expect(order.slice(-2)).toEqual(['GPU_END', 'loaded']);
    const unload = pipeline.unload('ab', signal);
    expect(pipeline.hosts()[1]).toMatchObject({ backend: 'cpu', state: 'idle' });
    await unload;
  });
});

describe('two devices of a backend', () => {
  const twoDevices = fileURLToPath(
    new URL('../../support/fake-host-two-devices.mjs', import.meta.url),
  );
  beforeEach(() => {
    pipeline = new Pipeline({
      createHost: (device) => new HostClient(device, twoDevices),
      threads: 1,
    });
  });

  it('prove at the same time, each in a host of its own', async () => {
    const listeners = [new Recorder(), new Recorder(), new Recorder()];
    const runs = listeners.map((listener, i) => pipeline.prove(task(`${i}`, 'slow'), listener));
    await Promise.all(listeners.slice(0, 2).map(waitForProgress));
    const ofCpu = () => pipeline.hosts().filter(({ backend }) => backend === 'cpu');
    expect(ofCpu()).toEqual([
      expect.objectContaining({ device: '0', state: 'proving', jobId: '0' }),
      expect.objectContaining({ device: '1', state: 'proving', jobId: '1' }),
    ]);
    const outcomes = await Promise.all(runs);
    expect(outcomes.map(({ device }) => device).slice(0, 2)).toEqual(['0', '1']);
    expect(new Set(outcomes.map((outcome) => outcome.public[0])).size).toBe(2);
    expect(ofCpu().map(({ state }) => state)).toEqual(['idle', 'idle']);
  });

  it('a job goes to the one that has its key, and a key is loaded on both', async () => {
    const { signal } = new AbortController();
    const busy = pipeline.prove({ ...task('a', 'slow'), keyDigest: 'one' }, new Recorder());
    await pipeline.prove({ ...task('b'), keyDigest: 'two' }, new Recorder());
    await busy;
    const again = await pipeline.prove({ ...task('c'), keyDigest: 'two' }, new Recorder());
    expect(again.device).toBe('1');
    expect(await pipeline.preload({ path: '/key', digest: 'ab', checked: true }, signal)).toBe(
      true,
    );
    const holders = pipeline.hosts().filter(({ residents }) => residents[0]?.digest === 'ab');
    expect(holders.map(({ device }) => device)).toEqual(['0', '1']);
    expect(await pipeline.unload('ab', signal)).toBe(7);
    expect(pipeline.hosts().flatMap(({ residents }) => residents)).toEqual([]);
  });

  it('a crash of one costs the other nothing', async () => {
    const listener = new Recorder();
    const slow = pipeline.prove(task('a', 'slow'), listener);
    await expect(pipeline.prove(task('b', 'crash'), new Recorder())).rejects.toMatchObject({
      code: 'ERR_HOST_CRASHED',
    });
    await expect(slow).resolves.toMatchObject({ device: '0', attempts: 1 });
    expect(listener.crashes).toBe(0);
  });
});
