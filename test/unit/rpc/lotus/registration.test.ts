import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { ProverError } from '../../../../src/core/errors.ts';
import { WorkerEndpoint } from '../../../../src/rpc/lotus/endpoint.ts';
import { type MinerApi, MinerError } from '../../../../src/rpc/lotus/miner-api.ts';
import { Registration } from '../../../../src/rpc/lotus/registration.ts';

let session: string;
let refusal: Error | undefined;
let connected: number;
let warned: string[];
let endpoint: WorkerEndpoint;
let registration: Registration;
const called = vi.fn();

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  [session, refusal, connected, warned] = ['first', undefined, 0, []];
  called.mockReset();
  endpoint = new WorkerEndpoint('seal');
  const miner = {
    info: { url: 'http://miner' },
    async call(method: string, params: readonly unknown[]) {
      called(method, params);
      if (refusal !== undefined) throw refusal;
      if (method === 'WorkerConnect') endpoint.beat();
      return method === 'Session' ? session : method === 'Version' ? { APIVersion: 66_816 } : null;
    },
  } as unknown as MinerApi;
  registration = new Registration({
    ...{ miner, endpoints: [endpoint], url: 'https://worker:9' },
    connected: () => void connected++,
    warn: ({ message }: ProverError) => void warned.push(message),
  });
  registration.start();
});

afterEach(async () => {
  await registration.stop();
  vi.useRealTimers();
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const heartbeats = async (seconds: number) => {
  for (let i = 0; i < seconds; i += 10) {
    endpoint.beat();
    await pass(10_000);
  }
};

it('joins once, and looks after the miner every ten seconds', async () => {
  await pass(0);
  expect(called.mock.calls).toEqual([
    ['Session', []],
    ['Version', []],
    ['WorkerConnect', ['https://worker:9/worker/seal/rpc/v0']],
  ]);
  await heartbeats(100);
  expect(connected).toBe(1);
  expect(called.mock.calls.filter(([method]) => method === 'Session')).toHaveLength(11);
});

it('joins again once the miner is another process', async () => {
  await pass(0);
  session = 'second';
  await pass(10_000);
  expect(connected).toBe(2);
});

it('joins again once the miner asks for it no more', async () => {
  await pass(0);
  await heartbeats(30);
  await pass(50_000);
  expect(connected).toBe(1);
  await pass(30_000);
  expect(connected).toBe(2);
});

it('stays away where it was shut down', async () => {
  await pass(0);
  endpoint.enabled = false;
  session = 'second';
  await pass(120_000);
  expect(called.mock.calls.filter(([method]) => method === 'WorkerConnect')).toHaveLength(1);
});

it('tries again with longer pauses, up to a minute, and tells of it once', async () => {
  await pass(0);
  refusal = new MinerError('no');
  await pass(10_000);
  called.mockReset();
  for (const [seconds, tries] of [
    [1, 1],
    [2, 2],
    [4, 3],
    [8, 4],
    [16, 5],
    [32, 6],
    [60, 7],
    [60, 8],
  ] as const) {
    await pass(1000 * seconds);
    expect(called).toHaveBeenCalledTimes(tries);
  }
  expect(warned).toEqual(['http://miner: the miner refuses: no']);
  refusal = undefined;
  await pass(60_000);
  refusal = new MinerError('no');
  await pass(10_000);
  expect(warned).toHaveLength(2);
});
