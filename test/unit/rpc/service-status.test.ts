import { describe, expect, it } from 'vitest';
import { ServiceStatus } from '../../../src/rpc/service-status.ts';
import { CPU, KEY, PROVEN } from '../../support/fake-service.ts';
import { type TestApp, testApp } from '../../support/rpc-app.ts';

const payload = { base64: 'AAAA' };

async function report(app: TestApp): Promise<ServiceStatus> {
  const body = await (await app.get('/status')).json();
  expect(ServiceStatus.parse(body)).toEqual(body);
  return body as ServiceStatus;
}

async function submit(app: TestApp): Promise<string> {
  return (await app.rpc('prove', { kind: 'circom', key: KEY.name, payload })).result.job_id;
}

describe('GET /status', () => {
  it('follows each partition', async () => {
    const app = testApp();
    const { jobs } = app.services;
    const statement = { kind: 'porep' };
    const { result } = await app.rpc('prove', { kind: 'porep', statement, vanilla: [payload] });
    jobs.partitions = 3;
    jobs.start(result.job_id, [
      ...([
        [1000, 'QUEUE_END'],
        [1000, 'SYNTH_START', 0],
        [2000, 'SYNTH_END', 0],
      ] as const),
      ...([
        [2000, 'GPU_START', 0],
        [5000, 'GPU_END', 0],
        [6000, 'SYNTH_START', 1],
      ] as const),
    ]);
    jobs.hostList = [{ ...CPU, state: 'proving', jobId: result.job_id, partition: 1 }];
    const { pipelines, gpu_workers: workers } = await report(app);
    expect(pipelines).toMatchObject([
      {
        ...{ proof_kind: 'porep', total_partitions: 3, partitions_done: 1 },
        partitions: [
          { index: 0, state: 'done', synth_ms: 1, gpu_ms: 3 },
          { index: 1, state: 'synthesizing', gpu_ms: null },
          { index: 2, state: 'pending', synth_ms: null },
        ],
      },
    ]);
    expect(workers).toMatchObject([{ current_job: result.job_id, current_partition: 1 }]);
  });

  it('has the fields of cuzk, and ours beside them', async () => {
    const status = await report(testApp());
    expect(status).toEqual({
      version: '1.2.3',
      uptime_secs: expect.any(Number),
      ready: true,
      memory: {
        total_bytes: expect.any(Number),
        used_bytes: expect.any(Number),
        available_bytes: expect.any(Number),
      },
      synthesis: { max_concurrent: 1, active: 0 },
      pipelines: [],
      gpu_workers: [
        {
          worker_id: 0,
          gpu_ordinal: 0,
          state: 'idle',
          current_job: null,
          current_partition: null,
          busy_secs: null,
          backend: 'cpu-reference',
        },
      ],
      allocations: { srs: [], pce: [] },
      counters: {
        total_completed: 0,
        total_failed: 0,
        completed_by_kind: {},
        failed_by_kind: {},
        queue_depth: 0,
      },
      buffers: {
        synth_in_flight: 0,
        provers_in_flight: 0,
        aux_in_flight: 0,
        shells_in_flight: 0,
        pending_handles: 0,
      },
      backends: [
        {
          backend: 'cuda',
          available: false,
          reason: 'no driver',
          state: 'unavailable',
          restarts: 0,
        },
        {
          backend: 'cpu-reference',
          available: true,
          version: '1',
          device: '0',
          device_name: 'CPU',
          memory_bytes: 1024,
          state: 'idle',
          restarts: 0,
        },
      ],
    });
    const { total_bytes, used_bytes, available_bytes } = status.memory;
    expect(used_bytes + available_bytes).toBe(total_bytes);
  });

  it('follows a job through its stages', async () => {
    const app = testApp();
    const { jobs } = app.services;
    const id = await submit(app);
    expect((await report(app)).counters.queue_depth).toBe(1);
    expect((await report(app)).pipelines).toEqual([]);

    jobs.start(id);
    const [host] = jobs.hostList.filter(({ available }) => available);
    if (host === undefined) throw new Error('the fake has one available host');
    const lastUsedMicros = jobs.get(id).submittedAt;
    const residents = [
      { backend: 'cpu', digest: 'ab'.repeat(32), bytes: 5, lastUsedMicros },
    ] as const;
    jobs.hostList = [
      { ...host, residents, state: 'proving', jobId: id, busySinceMicros: lastUsedMicros },
    ];
    const proving = await report(app);
    const last_used_secs_ago = expect.any(Number);
    expect(proving.allocations.srs).toEqual([
      { circuit_id: 'ab'.repeat(32), bytes: 5, last_used_secs_ago, evictable: false },
    ]);
    expect(proving.pipelines).toMatchObject([
      {
        job_id: id,
        proof_kind: 'circom',
        total_partitions: 1,
        partitions_done: 0,
        partitions: [{ index: 0, state: 'gpu', synth_ms: 2 }],
      },
    ]);
    expect(proving.pipelines[0]?.partitions[0]?.gpu_ms).toBeGreaterThan(0);
    expect(proving.gpu_workers).toMatchObject([
      { state: 'proving', current_job: id, current_partition: 0 },
    ]);
    expect(proving.gpu_workers[0]?.busy_secs).toBeGreaterThan(0);
    expect(proving.buffers).toMatchObject({ provers_in_flight: 1, synth_in_flight: 0 });
    expect(proving.counters.queue_depth).toBe(0);

    jobs.complete(id);
    expect((await report(app)).pipelines).toEqual([]);
  });

  it.each([
    [1, 'pending', {}],
    [2, 'synthesizing', { synth_in_flight: 1 }],
    [3, 'synth_done', { aux_in_flight: 1 }],
    [6, 'gpu', { provers_in_flight: 1, aux_in_flight: 1 }],
    [7, 'done', { pending_handles: 1 }],
  ] as const)('after %i events a partition is %s', async (events, state, buffers) => {
    const app = testApp();
    const { jobs } = app.services;
    const id = await submit(app);
    jobs.start(id, PROVEN.slice(0, events));
    const status = await report(app);
    expect(status.pipelines[0]?.partitions[0]?.state).toBe(state);
    expect(status.pipelines[0]?.partitions_done).toBe(state === 'done' ? 1 : 0);
    expect(status.buffers).toMatchObject(buffers);
  });

  it('counts what settled, by kind, and not what was cancelled', async () => {
    const app = testApp();
    const { jobs } = app.services;
    for (let i = 0; i < 2; i++) jobs.complete(await submit(app));
    jobs.fail(await submit(app), { code: 'ERR_INTERNAL', data: { reason: 'x' } });
    jobs.cancel(await submit(app));
    expect((await report(app)).counters).toEqual({
      total_completed: 2,
      total_failed: 1,
      completed_by_kind: { circom: 2 },
      failed_by_kind: { circom: 1 },
      queue_depth: 0,
    });
  });
});

describe('health', () => {
  it('is live, and ready with one backend that works', async () => {
    const app = testApp();
    expect(await (await app.get('/health/live')).json()).toEqual({ status: 'live' });
    expect(await (await app.get('/health/ready')).json()).toEqual({ status: 'ready' });
  });

  async function notReady(app: TestApp): Promise<string> {
    const answer = await app.get('/health/ready');
    expect(answer.status).toBe(503);
    expect(answer.headers.get('retry-after')).toBe('5');
    expect((await app.get('/health/live')).status).toBe(200);
    const { status, reason } = (await answer.json()) as { status: string; reason: string };
    expect(status).toBe('not ready');
    expect(await report(app)).toMatchObject({ ready: false, reason });
    return reason;
  }

  it('is not ready without a backend, and says why', async () => {
    const app = testApp();
    app.services.jobs.hostList = app.services.jobs.hostList.slice(0, 1);
    expect(await notReady(app)).toBe('no backend: cuda: no driver');
    app.services.jobs.hostList = [];
    expect(await notReady(app)).toBe('backends are being probed');
  });

  it('is not ready once it shuts down', async () => {
    const shutdown = new AbortController();
    const app = testApp({ shutdown: shutdown.signal });
    expect((await app.get('/health/ready')).status).toBe(200);
    shutdown.abort();
    expect(await notReady(app)).toBe('shutting down');
  });
});
