import { describe, expect, it } from 'vitest';
import { lotusApp } from '../../../support/lotus-app.ts';

// rpc.md 2.2: the 37 methods of a worker, with how many parameters each takes; and what one that
// only proves answers to parameters that are null.
const NOT_SUPPORTED = 'method not supported';
const NO_MINER = 'worker: expected a miner to return results to (PROOFLINE_MINER_API), got none';
const NO_CID = 'invalid cid: expected an object of one link';
const UUID = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
const SERVED: readonly [string, number, unknown][] = [
  ['Version', 0, 67_328],
  ['TaskTypes', 0, { 'seal/v0/commit/2': {}, 'seal/v0/provereplicaupdate/2': {} }],
  ['Paths', 0, []],
  ['Info', 0, expect.objectContaining({ IgnoreResources: false })],
  ['Remove', 1, null],
  ['StorageLocal', 0, {}],
  ['StorageDetachAll', 0, null],
  ['Enabled', 0, true],
  ['WaitQuiet', 0, null],
  ['ProcessSession', 0, UUID],
  ['Session', 0, UUID],
  // null is false: the worker is disabled, as by Shutdown.
  ['SetEnabled', 1, null],
  ['Shutdown', 0, null],
];
const REFUSED: readonly [string, number, string][] = [
  ['DataCid', 2, NOT_SUPPORTED],
  ['AddPiece', 4, NOT_SUPPORTED],
  ['SealPreCommit1', 3, NOT_SUPPORTED],
  ['SealPreCommit2', 2, NOT_SUPPORTED],
  ['SealCommit1', 5, NOT_SUPPORTED],
  ['SealCommit2', 2, NO_MINER],
  ['FinalizeSector', 1, NOT_SUPPORTED],
  ['FinalizeReplicaUpdate', 1, NOT_SUPPORTED],
  ['ReplicaUpdate', 2, NOT_SUPPORTED],
  ['ProveReplicaUpdate1', 4, NO_CID],
  ['ProveReplicaUpdate2', 5, NO_CID],
  ['GenerateSectorKeyFromData', 2, NO_CID],
  ['ReleaseUnsealed', 2, NOT_SUPPORTED],
  ['MoveStorage', 2, NOT_SUPPORTED],
  ['UnsealPiece', 5, NOT_SUPPORTED],
  ['Fetch', 4, NOT_SUPPORTED],
  ['DownloadSectorData', 3, NOT_SUPPORTED],
  ['GenerateWinningPoSt', 4, NO_MINER],
  ['GenerateWindowPoSt', 5, NO_MINER],
  ['TaskDisable', 1, 'task  is not one of this worker'],
  ['TaskEnable', 1, 'task  is not one of this worker'],
  ['StorageAddLocal', 1, NOT_SUPPORTED],
  ['StorageDetachLocal', 1, NOT_SUPPORTED],
  ['StorageRedeclareLocal', 2, NOT_SUPPORTED],
];

describe('the methods of a worker', () => {
  const app = lotusApp();
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect
  const ask = async (name: string, params: readonly unknown[]): Promise<any> => {
    const body = JSON.stringify({ id: 1, method: `Filecoin.${name}`, params });
    return await (await app.request('/rpc/v0', { method: 'POST', body })).json();
  };
  const nulls = (count: number) => Array<null>(count).fill(null);

  it('are 37', () => {
    expect(SERVED.length + REFUSED.length).toBe(37);
  });

  it.each([...SERVED, ...REFUSED])('%s takes %d parameters', async (name, count) => {
    const message = `wrong param count (method 'Filecoin.${name}'): ${count + 1} != ${count}`;
    expect((await ask(name, nulls(count + 1))).error).toEqual({ code: -32602, message });
  });

  it.each(SERVED)('%s(%d) is served', async (name, count, result) => {
    expect((await ask(name, nulls(count))).result).toEqual(result);
  });

  it.each(REFUSED)('%s(%d) is refused', async (name, count, message) => {
    expect((await ask(name, nulls(count))).error.message).toContain(message);
  });
});
