import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { connections, type Load, largeBodies, slowLoris, uploads } from '../load/loads.ts';
import { expectWithinLimits, measure, table } from '../load/measure.ts';
import { Api } from '../support/api.ts';
import { chainWitness, keepChainKey } from '../support/chain-files.ts';
import { type Service, serve } from '../support/command.ts';
import { keepPreimageKey, preimageWitness } from '../support/preimage.ts';

let folder: string;
let service: Service;
let api: Api;
/** Keeps the reference backend busy for a second or more. */
const slow = { key: 'preimage', backend: 'cpu-reference' };
const quick = { key: 'chain', backend: 'cpu-reference' };
let slowWitness: Uint8Array;
let witnesses = 2n;

const newWitness = async () => readFile(await chainWitness(folder, witnesses++));
const cancelAll = async () => {
  const { body } = await api.send('/v1/jobs');
  for (const { job_id } of body.jobs) await api.cancel(job_id);
};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proofline-limits-'));
  await keepChainKey(folder);
  await keepPreimageKey(folder);
  slowWitness = await preimageWitness(7n);
  service = await serve(folder, {
    PROOFLINE_QUEUE_LIMIT: '12',
    PROOFLINE_LOG_LEVEL: 'error',
    PROOFLINE_REQUESTS_PER_MINUTE: '1000000',
  });
  api = new Api(service.url);
});
afterAll(async () => {
  await service?.stop('SIGKILL');
  await rm(folder, { recursive: true });
});
beforeEach(cancelAll);

describe('an idempotency key', () => {
  it('of eight clients at the same moment gives one job, proved once', async () => {
    const witness = await newWitness();
    const fields = { ...quick, idempotency_key: 'same' };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => new Api(service.url).prove(witness, fields)),
    );
    const ids = new Set(answers.map(({ body }) => body.job_id));
    expect([...ids]).toEqual([expect.stringMatching(/^[0-9a-f-]{36}$/)]);
    const [id] = ids as Set<string>;
    expect((await api.reaches(id as string, 'completed')).body).toMatchObject({ attempts: 1 });
    const { jobs } = (await api.send('/v1/jobs?state=completed')).body;
    expect(jobs.filter(({ job_id }: { job_id: string }) => ids.has(job_id))).toHaveLength(1);
  });

  it('of another content is refused, and names the job that has it', async () => {
    const fields = { ...quick, idempotency_key: 'taken' };
    const first = await api.prove(await newWitness(), fields);
    const second = await api.prove(await newWitness(), fields);
    expect(second.status).toBe(422);
    expect(second.body.error).toMatchObject({
      code: 'ERR_IDEMPOTENCY',
      data: { job_id: first.body.job_id },
    });
  });
});

describe('cancel', () => {
  it('of a queued and of a running job settles them within a second, for good', async () => {
    const running = (await api.prove(slowWitness, slow)).body.job_id;
    const queued = (await api.prove(slowWitness, slow)).body.job_id;
    await api.reaches(running, 'running');
    expect((await api.job(queued)).body.state).toBe('queued');
    for (const id of [queued, running]) {
      const before = performance.now();
      expect((await api.cancel(id)).body.state).toBe('cancelled');
      expect(performance.now() - before).toBeLessThan(1000);
      const result = await api.post('/rpc', call('result', { job_id: id }));
      expect(result.body.error.data.code).toBe('ERR_CANCELLED');
    }
    // The device is free again within a second too: the next job is done soon.
    const next = (await api.prove(await newWitness(), quick)).body.job_id;
    await api.reaches(next, 'completed');
    for (const id of [queued, running]) {
      expect((await api.job(id)).body).toMatchObject({ state: 'cancelled' });
      expect((await api.job(id)).body).not.toHaveProperty('proof');
    }
  });

  it('of a settled job leaves it as it is', async () => {
    const completed = (await api.prove(await newWitness(), quick)).body.job_id;
    const failed = (await api.prove(await newWitness(), slow)).body.job_id;
    const cancelled = (await api.prove(slowWitness, slow)).body.job_id;
    await api.cancel(cancelled);
    await api.reaches(completed, 'completed');
    await api.reaches(failed, 'failed');
    for (const [id, state] of [
      [completed, 'completed'],
      [failed, 'failed'],
      [cancelled, 'cancelled'],
    ]) {
      const before = (await api.job(id)).text;
      expect(await api.cancel(id)).toMatchObject({ status: 200, body: { state } });
      expect((await api.job(id)).text).toBe(before);
    }
    expect(await api.cancel('00000000-0000-0000-0000-000000000000')).toMatchObject({ status: 404 });
  });

  it('while a job completes ends in one of the two, and stays there', async () => {
    const ids: string[] = [];
    for (let i = 0; i < 8; i++) ids.push((await api.prove(await newWitness(), quick)).body.job_id);
    const states = await Promise.all(
      ids.map(async (id, i) => {
        await new Promise((resolve) => setTimeout(resolve, 40 * i));
        return (await api.cancel(id)).body.state;
      }),
    );
    for (const [i, id] of ids.entries()) {
      expect(['completed', 'cancelled']).toContain(states[i]);
      const { body } = await api.job(id);
      expect(body.state).toBe(states[i]);
      expect('proof' in body).toBe(states[i] === 'completed');
    }
  });
});

describe('a deadline', () => {
  it('in the past is refused and nothing is queued', async () => {
    const before = (await api.send('/v1/jobs')).text;
    const deadline = new Date(Date.now() - 1000).toISOString();
    const answer = await api.prove(slowWitness, { ...slow, deadline });
    expect(answer).toMatchObject({ status: 422, body: { error: { code: 'ERR_DEADLINE' } } });
    expect((await api.send('/v1/jobs')).text).toBe(before);
  });

  it('that passes while the job waits or runs fails it then', async () => {
    const deadline = new Date(Date.now() + 700).toISOString();
    const ids: string[] = [];
    for (let i = 0; i < 2; i++) {
      ids.push((await api.prove(slowWitness, { ...slow, deadline })).body.job_id);
    }
    for (const id of ids) {
      expect((await api.reaches(id, 'failed')).body.error.code).toBe('ERR_DEADLINE');
    }
    expect(Date.now() - Date.parse(deadline)).toBeLessThan(2000);
  });
});

it('a queue at its bound says when to come back, over REST and JSON-RPC', async () => {
  const payload = { sha256: (await upload(slowWitness)).body.sha256 };
  const submit = () => api.post('/v1/prove', { kind: 'circom', ...slow, payload });
  let refused = await submit();
  let accepted = 0;
  for (; refused.status === 202; refused = await submit()) accepted++;
  expect(accepted).toBeGreaterThanOrEqual(12);
  expect(accepted).toBeLessThanOrEqual(14);
  expect(refused).toMatchObject({
    status: 429,
    body: { error: { code: 'ERR_QUEUE_FULL', retry: 'later', data: { limit: 12 } } },
  });
  const seconds = Number(refused.headers.get('retry-after'));
  expect(seconds).toBeGreaterThanOrEqual(1);
  expect(refused.body.error.data.retry_after_seconds).toBe(seconds);
  const rpc = await api.post('/rpc', call('prove', { kind: 'circom', ...slow, payload }));
  expect(rpc.body.error).toMatchObject({ code: -32031, data: { retry_after_seconds: seconds } });
  await cancelAll();
  expect((await submit()).status).toBe(202);
});

describe('under load the service keeps within its limits', () => {
  const LOADS: readonly [string, Load][] = [
    ['1,000 connections', connections(1000, 4)],
    ['20 uploads at once', uploads(20, 5_000_000)],
    ['200 slow clients', slowLoris(100, 3)],
    ['JSON of the largest size', largeBodies(3)],
  ];

  // Other tests share the machine: what was late once must be late each time.
  it.each(LOADS)('%s', { retry: 2 }, async (name, load) => {
    const measured = await measure(name, service, load);
    console.log(table([measured]));
    expectWithinLimits(measured);
  });

  it('and has lost none of it', () => {
    expect(service.stderr()).toBe('');
  });

  it('a client that is slow to send its headers is cut off', async () => {
    const { hostname, port } = new URL(service.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => {});
    socket.write('GET /health/live HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Slow: ');
    const trickle = setInterval(() => socket.write('a'), 500);
    const before = performance.now();
    await once(socket.resume(), 'close');
    clearInterval(trickle);
    const seconds = (performance.now() - before) / 1000;
    expect(seconds).toBeGreaterThan(9);
    expect(seconds).toBeLessThan(17);
  });
});

const upload = (bytes: Uint8Array) =>
  api.post('/v1/payloads', bytes, { 'content-type': 'application/octet-stream' });
const call = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params });
