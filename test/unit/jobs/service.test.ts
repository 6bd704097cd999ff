import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HostClient } from '../../../src/host/client.ts';
import { MemoryJobStore } from '../../../src/jobs/memory-store.ts';
import { PayloadFolder } from '../../../src/jobs/payloads.ts';
import { Jobs } from '../../../src/jobs/service.ts';
import { Pipeline } from '../../../src/pipeline/pipeline.ts';
import { EventStream, type ProverEvent } from '../../../src/telemetry/events.ts';

const entry = fileURLToPath(new URL('../../support/fake-host.mjs', import.meta.url));
let folder: string;
let pipeline: Pipeline;
let payload: string;
let jobs: Jobs;
let events: ProverEvent[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proofline-'));
  pipeline = new Pipeline({ createHost: (device) => new HostClient(device, entry), threads: 1 });
  const payloads = new PayloadFolder(folder, () => false);
  payload = (await payloads.put([Buffer.from('witness')] as never, 100)).sha256;
  const stream = new EventStream();
  events = [];
  stream.subscribe((event) => events.push(event));
  jobs = new Jobs({
    store: new MemoryJobStore(3),
    pipeline,
    payloads,
    events: stream,
    queueLimit: 2,
    // The name of the key is what the fake host does with it.
    findKey: async (key) => ({ path: key, digest: 'digest' }),
  });
});
afterEach(async () => {
  await jobs.close();
  await pipeline.close();
  await rm(folder, { recursive: true });
});

const submit = (key = 'fine', options = {}) =>
  jobs.submit({ kind: 'circom', key, payload }, options);
const names = (id: string) => jobs.events(id).map((event) => event.event);

describe('a job', () => {
  it('is accepted at once and completes with its outcome', async () => {
    const job = await submit();
    expect(job.state).toBe('queued');
    const done = await jobs.settled(job.id);
    expect(done).toMatchObject({ state: 'completed', progress: 1, outcome: { verified: true } });
    expect(done.startedAt).toBeGreaterThanOrEqual(done.submittedAt);
    expect(done.endedAt).toBeGreaterThanOrEqual(done.startedAt as number);
  });

  it.each(['fine', 'refuse', 'crash'])(
    'that ends in %s has an end for every start',
    async (key) => {
      const job = await submit(key);
      await jobs.settled(job.id);
      const starts = names(job.id).filter((name) => name.endsWith('_START'));
      const ends = names(job.id).filter((name) => name.endsWith('_END'));
      expect(names(job.id)[0]).toBe('JOB_START');
      expect(names(job.id).at(-1)).toBe('JOB_END');
      expect(ends.map((name) => name.replace('_END', '_START')).sort()).toEqual(starts.sort());
      expect(events.filter((event) => event.jobId === job.id)).toEqual(jobs.events(job.id));
    },
  );

  it('that fails says why', async () => {
    const job = await submit('refuse');
    expect(await jobs.settled(job.id)).toMatchObject({
      state: 'failed',
      error: { code: 'ERR_FORMAT', data: { subject: 'witness' } },
    });
    expect(jobs.events(job.id).at(-1)?.attributes).toEqual({
      state: 'failed',
      error: 'ERR_FORMAT',
    });
  });

  it('takes its trace from a valid traceparent only', async () => {
    const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
    const traceparent = `00-${trace}-00f067aa0ba902b7-01`;
    expect((await submit('fine', { traceparent })).traceId).toBe(trace);
    for (const bad of [`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, `${traceparent}x`, 'ff']) {
      const { traceId } = await submit('fine', { traceparent: bad });
      expect(traceId).toMatch(/^[0-9a-f]{32}$/);
      expect(traceId).not.toBe(trace);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
});

describe('cancel', () => {
  it('ends a running job and a queued one, and leaves a settled one', async () => {
    const running = await submit('hang');
    const queued = await submit();
    expect(jobs.cancel(queued.id).state).toBe('cancelled');
    expect((await jobs.settled(queued.id)).state).toBe('cancelled');
    const before = performance.now();
    jobs.cancel(running.id);
    expect((await jobs.settled(running.id)).state).toBe('cancelled');
    expect(performance.now() - before).toBeLessThan(1000);
    const done = await submit();
    await jobs.settled(done.id);
    expect(jobs.cancel(done.id).state).toBe('completed');
  });

  it('is unknown for an unknown job', () => {
    expect(() => jobs.cancel('x')).toThrow('job x: expected a known job');
  });
});

describe('limits', () => {
  it('refuses a job beyond the queue and says when to come back', async () => {
    await submit('hang');
    await new Promise((resolve) => setTimeout(resolve, 150));
    await submit();
    await submit();
    await expect(submit()).rejects.toMatchObject({
      code: 'ERR_QUEUE_FULL',
      data: { limit: 2, retryAfterSeconds: 1 },
    });
  });

  it('refuses an unknown payload and an unavailable backend', async () => {
    const request = { kind: 'circom', key: 'fine', payload: '0'.repeat(64) } as const;
    await expect(jobs.submit(request)).rejects.toMatchObject({ code: 'ERR_PAYLOAD_UNKNOWN' });
    await expect(jobs.submit({ ...request, payload, backend: 'cuda' })).rejects.toMatchObject({
      code: 'ERR_BACKEND_UNAVAILABLE',
    });
  });

  it('remembers the newest settled jobs only', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 4; i++) {
      const { id } = await submit();
      await jobs.settled(id);
      ids.push(id);
    }
    expect(jobs.list(10).map((job) => job.id)).toEqual(ids.slice(1).reverse());
    expect(() => jobs.get(ids[0] as string)).toThrow('expected a known job');
  });

  it('accepts nothing once it closes', async () => {
    await jobs.close();
    await expect(submit()).rejects.toMatchObject({ code: 'ERR_SHUTTING_DOWN' });
  });
});
