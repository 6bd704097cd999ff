import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ProverError } from '../../../../src/core/errors.ts';
import type { JobService } from '../../../../src/jobs/service.ts';
import { WorkerCallStore } from '../../../../src/jobs/worker-calls.ts';
import { WorkerCalls } from '../../../../src/rpc/lotus/calls.ts';
import { type MinerApi, MinerError } from '../../../../src/rpc/lotus/miner-api.ts';
import { HandJobs } from '../../../support/lotus-app.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const PROOF = Buffer.alloc(192, 7);
const CALL = {
  ...{ miner: 1000, sector: 9, returnMethod: 'ReturnSealCommit2' },
  request: { kind: 'porep', statement: 'ab'.repeat(32), vanilla: ['cd'.repeat(32)] },
} as const;

let path: string;
let store: WorkerCallStore;
let jobs: HandJobs;
let warned: string[];
let delivered: string[];
/** What the miner answers next; then it takes everything. */
let answers: (unknown | Error)[];
const returned = vi.fn();
let calls: WorkerCalls;

function create(): WorkerCalls {
  const miner = {
    info: { url: 'http://miner' },
    async call(method: string, params: readonly unknown[]) {
      returned(method, params);
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      return answer ?? null;
    },
  } as unknown as MinerApi;
  const warn = ({ message }: ProverError, id: string) => void warned.push(`${id}: ${message}`);
  return new WorkerCalls({
    store,
    jobs: jobs as unknown as JobService,
    miner,
    warn,
    delivered: (id) => void delivered.push(id),
  });
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  path = join(temporaryFolder(), 'jobs.db');
  store = new WorkerCallStore(path);
  [jobs, warned, delivered, answers] = [new HandJobs(), [], [], []];
  returned.mockReset();
  calls = create();
});

afterEach(async () => {
  vi.useRealTimers();
  await calls.stop();
  store.close();
});

const settle = () => vi.advanceTimersByTimeAsync(0);
const unreachable = () =>
  new ProverError('ERR_UNREACHABLE', { url: 'http://miner', reason: 'ECONNREFUSED' });
const callId = (ID: string) => ({ Sector: { Miner: 1000, Number: 9 }, ID });

describe('calls that are answered later', () => {
  it('are returned once, with their proof, and forgotten', async () => {
    calls.start();
    const id = calls.begin(CALL);
    await settle();
    expect(store.list()).toEqual([{ ...CALL, id }]);
    expect(jobs.all[0]?.request).toEqual({ ...CALL.request, idempotencyKey: `worker-call-${id}` });
    expect(calls.pending).toBe(1);
    jobs.complete('job-1', PROOF);
    await settle();
    expect(returned.mock.calls).toEqual([
      ['ReturnSealCommit2', [callId(id), PROOF.toString('base64'), null]],
    ]);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(returned).toHaveBeenCalledTimes(1);
    expect([store.list(), calls.pending, warned, delivered]).toEqual([[], 0, [], [id]]);
  });

  it('are returned with the reason where there is no proof', async () => {
    calls.start();
    const id = calls.begin(CALL);
    await settle();
    jobs.fail('job-1', { code: 'ERR_FORMAT', data: { subject: 'C1', expected: 'x', actual: 'y' } });
    await settle();
    const reason = { Code: 0, Message: 'C1: expected x, got y' };
    expect(returned.mock.calls).toEqual([['ReturnSealCommit2', [callId(id), null, reason]]]);
  });

  it('say where another time may be better', async () => {
    calls.start();
    calls.begin(CALL);
    await settle();
    jobs.fail('job-1', { code: 'ERR_HOST_CRASHED', data: { device: 'cpu:0', cause: 'SIGKILL' } });
    await settle();
    const Message = 'device host cpu:0: expected it to keep running, got SIGKILL';
    expect(returned.mock.calls[0]?.[1][2]).toEqual({ Code: 100, Message });
  });

  it('tell a miner nothing of a fault of ours', async () => {
    calls.start();
    jobs.refusals.push(new Error('/secret/path'));
    calls.begin(CALL);
    await settle();
    expect(returned.mock.calls[0]?.[1][2]).toEqual({ Code: 0, Message: 'internal error' });
  });

  it('are offered again every five seconds until the miner takes them', async () => {
    answers.push(unreachable(), unreachable(), new MinerError('miner is busy'));
    calls.start();
    const id = calls.begin(CALL);
    await settle();
    jobs.complete('job-1', PROOF);
    await settle();
    expect(returned).toHaveBeenCalledTimes(1);
    for (const times of [2, 3, 4, 4]) {
      await vi.advanceTimersByTimeAsync(5000);
      expect(returned).toHaveBeenCalledTimes(times);
    }
    expect(warned).toEqual([`${id}: http://miner: ECONNREFUSED`]);
    expect(store.list()).toEqual([]);
  });

  it.each(['result for call 1000-9-x already reported', 'callRes channel already has a response'])(
    'are done with where the miner says: %s',
    async (message) => {
      answers.push(new MinerError(message));
      calls.start();
      calls.begin(CALL);
      await settle();
      jobs.complete('job-1', PROOF);
      await settle();
      expect(store.list()).toEqual([]);
      expect(warned).toEqual([]);
    },
  );

  it('do not wait for one that the miner refuses', async () => {
    answers.push(new MinerError('never heard of it'));
    calls.start();
    const [first, second] = [calls.begin(CALL), calls.begin(CALL)];
    await settle();
    jobs.complete('job-1', PROOF);
    jobs.complete('job-2', PROOF);
    await settle();
    await settle();
    expect(store.list().map(({ id }) => id)).toEqual([first]);
    expect(returned.mock.calls.map(([, [{ ID }]]) => ID)).toEqual([first, second]);
    expect(warned).toEqual([`${first}: http://miner: the miner refuses: never heard of it`]);
  });

  it('go on in the next process: their job, or their result', async () => {
    answers.push(unreachable());
    calls.start();
    const [proved, running] = [calls.begin(CALL), calls.begin(CALL)];
    await settle();
    jobs.complete('job-1', PROOF);
    await settle();
    await calls.stop();
    store.close();
    store = new WorkerCallStore(path);
    returned.mockReset();
    calls = create();
    calls.start();
    await settle();
    expect(returned.mock.calls.map(([, [{ ID }]]) => ID)).toEqual([proved]);
    expect(jobs.all).toHaveLength(2);
    jobs.complete('job-2', PROOF);
    await settle();
    expect(returned.mock.calls.map(([, [{ ID }]]) => ID)).toEqual([proved, running]);
    expect(store.list()).toEqual([]);
  });

  it('are delivered once the disk can be read again', async () => {
    const { list } = store;
    calls.start();
    const id = calls.begin(CALL);
    store.list = () => {
      throw new ProverError('ERR_STORAGE', { subject: 'jobs', action: 'read', reason: 'EIO' });
    };
    await settle();
    jobs.complete('job-1', PROOF);
    await settle();
    expect(warned).toContain(': jobs: cannot read: EIO');
    store.list = list;
    await vi.advanceTimersByTimeAsync(5000);
    expect(returned.mock.calls.map(([, [{ ID }]]) => ID)).toEqual([id]);
  });

  it('keep their payloads until there is a result', async () => {
    calls.start();
    calls.begin(CALL);
    for (const sha256 of ['ab'.repeat(32), 'cd'.repeat(32)]) {
      expect(store.needsPayload(sha256)).toBe(true);
    }
    expect(store.needsPayload('ef'.repeat(32))).toBe(false);
    answers.push(unreachable());
    await settle();
    jobs.complete('job-1', PROOF);
    await settle();
    expect(store.list()).toHaveLength(1);
    expect(store.needsPayload('ab'.repeat(32))).toBe(false);
  });

  it('wait where the queue or the disk is full, and are never refused', async () => {
    vi.useRealTimers();
    jobs.refusals.push(new ProverError('ERR_QUEUE_FULL', { limit: 1, retryAfterSeconds: 1 }));
    calls.start();
    calls.begin(CALL);
    await vi.waitFor(() => expect(jobs.all).toHaveLength(1), { timeout: 3000 });
    expect(warned).toEqual([]);
  });

  it('are left to the next process by one that shuts down', async () => {
    calls.start();
    jobs.refusals.push(new ProverError('ERR_SHUTTING_DOWN', {}));
    calls.begin(CALL);
    await settle();
    expect(returned).not.toHaveBeenCalled();
    expect(store.list()[0]?.result).toBeUndefined();
  });
});
