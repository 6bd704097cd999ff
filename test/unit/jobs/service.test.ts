import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ProverError } from '../../../src/core/errors.ts';
import type { Micros } from '../../../src/core/units.ts';
import { HostClient } from '../../../src/host/client.ts';
import type { FilecoinRequest } from '../../../src/jobs/job.ts';
import { PayloadFolder } from '../../../src/jobs/payloads.ts';
import { Jobs } from '../../../src/jobs/service.ts';
import { SqliteJobStore } from '../../../src/jobs/sqlite-store.ts';
import { Pipeline } from '../../../src/pipeline/pipeline.ts';
import { EventStream, type ProverEvent } from '../../../src/telemetry/events.ts';

const entry = fileURLToPath(new URL('../../support/fake-host.mjs', import.meta.url));
let folder: string;
let pipeline: Pipeline;
let payload: string;
let payloads: PayloadFolder;
let jobs: Jobs;
let events: ProverEvent[];
let store: SqliteJobStore;
let warnings: string[];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proofline-'));
  pipeline = new Pipeline({ createHost: (device) => new HostClient(device, entry), threads: 1 });
  warnings = [];
  payloads = new PayloadFolder({ folder, bytesMax: 1000, inUse: () => false });
  payload = (await payloads.put([Buffer.from('witness')] as never, 100)).sha256;
  const stream = new EventStream();
  events = [];
  stream.subscribe((event) => events.push(event));
  store = new SqliteJobStore(join(folder, 'jobs.db'));
  jobs = new Jobs({
    store,
    jobsKept: 3,
    jobsKeptMicros: 3.6e9,
    warn: (error) => warnings.push(error.code),
    pipeline,
    payloads,
    events: stream,
    queueLimit: 2,
    // The name of the key is what the fake host does with it.
    findKey: async (key) => ({ path: key, digest: key, checked: true }),
    findKeyFor: async (kind, size) => ({ path: kind, digest: `${kind} ${size}`, checked: true }),
  });
});
afterEach(async () => {
  await jobs.close(0);
  await pipeline.close();
  store.close();
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

  it('is not waited for by who has left already', async () => {
    const { id } = await submit('slow');
    expect((await jobs.settled(id, AbortSignal.abort())).state).not.toBe('completed');
    jobs.cancel(id);
    await jobs.settled(id);
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
    const traceOf = async (header: string): Promise<string> => {
      const { id, traceId } = await submit('fine', { traceparent: header });
      await jobs.settled(id);
      return traceId;
    };
    expect(await traceOf(traceparent)).toBe(trace);
    for (const bad of [`00-${'0'.repeat(32)}-00f067aa0ba902b7-01`, `${traceparent}x`, 'ff']) {
      const traceId = await traceOf(bad);
      expect(traceId).toMatch(/^[0-9a-f]{32}$/);
      expect(traceId).not.toBe(trace);
    }
  });

  it('keeps and tells that a caller does not record its trace', async () => {
    const told = async (flags: string) => {
      const traceparent = `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-${flags}`;
      const { id } = await submit('fine', { traceparent });
      const { parentSampled } = await jobs.settled(id);
      return [parentSampled, jobs.events(id)[0]?.attributes?.parentSampled];
    };
    expect(await told('01')).toEqual([undefined, undefined]);
    expect(await told('02')).toEqual([false, false]);
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
    const { id } = await submit('hang');
    await expect.poll(() => jobs.get(id).state).toBe('running');
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
    expect(jobs.list({ limit: 10 }).map((job) => job.id)).toEqual(ids.slice(1).reverse());
    expect(() => jobs.get(ids[0] as string)).toThrow('expected a known job');
  });

  it('accepts nothing once it closes', async () => {
    await jobs.close(0);
    await expect(submit()).rejects.toMatchObject({ code: 'ERR_SHUTTING_DOWN' });
  });
});

describe('idempotency', () => {
  const keyed = (extra: object = {}) =>
    jobs.submit({ kind: 'circom', key: 'fine', payload, idempotencyKey: 'once', ...extra });

  it('makes one job of one key and one content, also at once and after it has settled', async () => {
    const [first, second] = await Promise.all([keyed(), keyed()]);
    expect(second.id).toBe(first.id);
    await jobs.settled(first.id);
    expect(await keyed()).toMatchObject({ id: first.id, state: 'completed' });
    expect(jobs.list({ limit: 10 })).toHaveLength(1);
  });

  it('refuses another content under the same key', async () => {
    const { id } = await keyed();
    await expect(keyed({ key: 'refuse' })).rejects.toMatchObject({
      code: 'ERR_IDEMPOTENCY',
      data: { jobId: id },
    });
    await expect(keyed({ strict: true })).rejects.toMatchObject({ code: 'ERR_IDEMPOTENCY' });
  });
});

describe('deadline and priority', () => {
  const inMillis = (ms: number) => ((Date.now() + ms) * 1000) as Micros;

  it('refuses a deadline in the past', async () => {
    const request = { kind: 'circom', key: 'fine', payload, deadline: inMillis(-1) } as const;
    await expect(jobs.submit(request)).rejects.toMatchObject({ code: 'ERR_DEADLINE' });
    expect(jobs.list({ limit: 1 })).toEqual([]);
  });

  it.each(['hang', 'fine'])('fails a job that is late, running or waiting (%s)', async (key) => {
    const running = key === 'fine' ? await submit('hang') : undefined;
    const job = await jobs.submit({ kind: 'circom', key, payload, deadline: inMillis(300) });
    expect(await jobs.settled(job.id)).toMatchObject({
      state: 'failed',
      error: { code: 'ERR_DEADLINE' },
    });
    if (running !== undefined) jobs.cancel(running.id);
  });

  it('starts the urgent first', async () => {
    const first = await submit('slow');
    const low = await jobs.submit({ kind: 'circom', key: 'fine', payload, priority: 'low' });
    const urgent = { kind: 'circom', key: 'fine', payload, priority: 'critical' } as const;
    const critical = await jobs.submit(urgent);
    await Promise.all([first, low, critical].map(({ id }) => jobs.settled(id)));
    const startOf = (job: { id: string }) => jobs.get(job.id).startedAt as number;
    expect(startOf(critical)).toBeLessThan(startOf(low));
  });
});

describe('a crash of the host', () => {
  it('is retried, and blamed on the job after three', async () => {
    const job = await submit('crash');
    expect(await jobs.settled(job.id)).toMatchObject({
      state: 'failed',
      crashes: 3,
      error: { code: 'ERR_QUARANTINED', data: { crashes: 3 } },
    });
    const next = await submit('fine');
    expect((await jobs.settled(next.id)).state).toBe('completed');
  });
});

describe('a job of Filecoin', () => {
  const FACTS = {
    ...{ kind: 'porep', sectorSize: '2KiB', registeredProof: 'StackedDrg2KiBV1_1' },
    ...{ partitions: 3, aggregates: true },
  };
  let request: FilecoinRequest;
  beforeEach(async () => {
    const statement = (await payloads.put([Buffer.from(JSON.stringify(FACTS))] as never, 999))
      .sha256;
    request = { kind: 'porep', statement, vanilla: [payload] };
  });

  it('takes the key of its circuit and makes a proof for each partition', async () => {
    const { id } = await jobs.submit(request);
    const job = await jobs.settled(id);
    expect(job).toMatchObject({
      ...{ state: 'completed', keyDigest: 'porep 2KiB', partitions: 3 },
      outcome: { kind: 'porep', aggregated: false, partitions: [{}, {}, {}] },
    });
    const { attributes } = jobs
      .events(id)
      .find(({ event }) => event === 'JOB_START') as ProverEvent;
    expect(attributes).toMatchObject({ kind: 'porep', partitions: 3 });
    const gpu = jobs.events(id).filter(({ event }) => event === 'GPU_START');
    expect(gpu.map(({ partition }) => partition)).toEqual([0, 1, 2]);
  });

  it('takes the key that it names, and proves one partition', async () => {
    const { id } = await jobs.submit({ ...request, key: 'fine', partition: 2 });
    const job = await jobs.settled(id);
    expect(job).toMatchObject({ keyDigest: 'fine', outcome: { partitions: [{ partition: 2 }] } });
    expect(job).not.toHaveProperty('partitions');
  });

  it.each<[message: string, change: Partial<FilecoinRequest>]>([
    ['statement: kind: expected window-post, got porep', { kind: 'window-post' }],
    ['partition: expected below 3, got 3', { partition: 3 }],
    [`payload ${'0'.repeat(64)}`, { vanilla: ['0'.repeat(64)] }],
    [`payload ${'0'.repeat(64)}`, { statement: '0'.repeat(64) }],
  ])('is refused at once: %s', async (message, change) => {
    const refused = jobs.submit({ ...request, ...change } as FilecoinRequest);
    await expect(refused).rejects.toThrow(message);
    expect(store.count('queued')).toBe(0);
  });

  it('is one with a request of the same content, and not with one of another', async () => {
    const key = { idempotencyKey: 'once' };
    const first = await jobs.submit({ ...request, ...key });
    expect((await jobs.submit({ ...request, ...key })).id).toBe(first.id);
    for (const change of [{ partition: 0 }, { vanilla: [payload, payload] }, { strict: true }]) {
      const other = jobs.submit({ ...request, ...key, ...change });
      await expect(other).rejects.toMatchObject({ code: 'ERR_IDEMPOTENCY' });
    }
  });

  it('keeps what it reads until it has settled', async () => {
    const { id } = await jobs.submit({ ...request, key: 'slow' });
    for (const sha256 of [request.statement, payload]) {
      expect(store.needsPayload(sha256)).toBe(true);
    }
    await jobs.settled(id);
    expect(store.needsPayload(payload)).toBe(false);
  });
});

describe('across processes', () => {
  const again = () => {
    const payloads = new PayloadFolder({ folder, bytesMax: 1000, inUse: () => false });
    return new Jobs({
      store,
      pipeline: new Pipeline({
        createHost: (device) => new HostClient(device, entry),
        threads: 1,
      }),
      payloads,
      events: new EventStream(),
      queueLimit: 10,
      jobsKept: 10,
      jobsKeptMicros: 3.6e9,
      findKey: async (key) => ({ path: key === 'hang' ? 'fine' : key, digest: key, checked: true }),
      findKeyFor: async (kind) => ({ path: kind, digest: kind, checked: true }),
      warn: () => {},
    });
  };

  it('what was not settled is taken up again, to one result', async () => {
    const running = await submit('hang');
    await expect.poll(() => jobs.get(running.id).state).toBe('running');
    const queued = await submit('fine');
    await jobs.close(50);
    expect([running, queued].map(({ id }) => store.get(id).state)).toEqual(['queued', 'queued']);
    const next = again();
    next.recover();
    for (const { id } of [running, queued]) {
      expect(await next.settled(id)).toMatchObject({ state: 'completed' });
    }
    expect(next.get(running.id).attempts).toBe(2);
    expect(next.events(running.id).at(-1)?.event).toBe('JOB_END');
    await next.close(0);
  });

  it('drains what runs, and starts nothing that waits', async () => {
    const [job, waiting] = [await submit('slow'), await submit('slow')];
    await expect.poll(() => jobs.get(job.id).state).toBe('running');
    await jobs.close(5000);
    expect(store.get(job.id).state).toBe('completed');
    expect(store.get(waiting.id)).toMatchObject({ state: 'queued', attempts: 0 });
  });
});

it('writes a result that the disk refused once it can', async () => {
  const { settle } = store;
  let refusals = 1;
  store.settle = function (this: SqliteJobStore, ...parameters) {
    if (refusals-- > 0) {
      const data = { subject: 'jobs', action: 'write', reason: 'no space left on the device' };
      throw new ProverError('ERR_STORAGE', data);
    }
    return settle.apply(this, parameters);
  };
  const job = await submit();
  expect((await jobs.settled(job.id)).state).toBe('completed');
  expect(warnings).toEqual(['ERR_STORAGE']);
});
