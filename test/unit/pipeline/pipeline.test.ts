import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { HostClient } from '../../../src/host/client.ts';
import { Pipeline, type ProveTask, type TaskListener } from '../../../src/pipeline/pipeline.ts';
import type { ProverEvent } from '../../../src/telemetry/events.ts';

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
  progress() {}
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
  await expect(pipeline.prove(task('b'), new Recorder())).resolves.toMatchObject({ attempts: 1 });
  expect(pipeline.hosts().find((host) => host.backend === 'cpu')?.restarts).toBe(3);
});

it('shows what each backend does', async () => {
  const listener = new Recorder();
  const run = pipeline.prove(task('a', 'slow'), listener);
  await new Promise<void>((resolve) => {
    listener.progress = () => resolve();
  });
  const [cuda, cpu] = pipeline.hosts();
  expect(cuda).toMatchObject({ available: false, reason: 'no driver', state: 'unavailable' });
  expect(cpu).toMatchObject({ available: true, state: 'proving', jobId: 'a', deviceName: 'fake' });
  await run;
  expect(pipeline.hosts()[1]?.state).toBe('idle');
});
