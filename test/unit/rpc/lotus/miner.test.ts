import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseApiInfo } from '../../../../src/rpc/lotus/miner-api.ts';
import { FakeMiner, firstPhase, sha256 } from '../../../support/lotus.ts';
import { type LotusApp, lotusApp } from '../../../support/lotus-app.ts';
import { until } from '../../../support/rpc-app.ts';

const PROOF = Buffer.alloc(192, 7);
const SECTOR = { ID: { Miner: 1000, Number: 9 }, ProofType: 5 };
const COMM_R = { '/': 'bagboea4b5abcbkmxiu2a4xqvqzbrxgiigbujzpuj6nm2e7s5rz6gcxwqzpsbwkjn' };
const COMM_D = { '/': 'baga6ea4seaqao7s73y24kcutaosvacpdjgfe5pw76ooefnyqw4ynr3d2y6x2mpq' };
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

let miner: FakeMiner;
let app: LotusApp;
let server: Server;
let url: string;

beforeEach(async () => {
  miner = new FakeMiner();
  await miner.listen();
  app = lotusApp({ miner: parseApiInfo('miner_api', miner.apiInfo) });
  server = createAdaptorServer({ fetch: app.fetch }) as Server;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  await app.lotus.stop();
  app.calls.close();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
  await miner.close();
});

async function join(): Promise<void> {
  app.lotus.start(url);
  await until(() => app.logged.length === 2);
}

/** The statement that a job's digest names. */
const statementOf = (digest: string | undefined) =>
  JSON.parse(String(app.payloads.bytes.get(digest ?? '')));

describe('a miner that is joined', () => {
  it('takes in one worker a role, each with its session and tasks', async () => {
    await join();
    expect(miner.joined.map((worker) => [worker.url, worker.version, worker.tasks])).toEqual([
      [`${url}/worker/seal/rpc/v0`, 67328, ['seal/v0/commit/2', 'seal/v0/provereplicaupdate/2']],
      [`${url}/worker/wdpost/rpc/v0`, 67328, ['post/v0/windowproof']],
      [`${url}/worker/winpost/rpc/v0`, 67328, ['post/v0/winningproof']],
    ]);
    const sessions = miner.joined.map(({ session }) => session);
    expect(new Set(sessions).size).toBe(3);
    for (const session of sessions) expect(session).toMatch(UUID);
    expect(app.logged).toEqual([
      {
        circuit: 'winning-post',
        message:
          'no key for winning-post: its tasks fail until `proofline keys import` has stored one',
      },
      {
        miner: `http://127.0.0.1:${miner.port}`,
        ...{ roles: 'seal, window-post, winning-post', message: 'joined the miner' },
      },
    ]);
  });

  it('may schedule every seal proof but non-interactive ones', async () => {
    await join();
    const { Resources, Hostname, IgnoreResources } = miner.joined[0]?.info ?? {};
    expect([typeof Hostname, IgnoreResources]).toEqual(['string', false]);
    expect(Resources.MemPhysical).toBeGreaterThan(2 ** 28);
    expect([Resources.MemUsed, Resources.GPUs]).toEqual([0, []]);
    const fits = {
      MinMemory: 0,
      MaxMemory: 0,
      GPUUtilization: 0,
      MaxParallelism: 0,
      MaxParallelismGPU: 0,
    };
    const { 'seal/v0/commit/2': commit, 'seal/v0/provereplicaupdate/2': update } =
      Resources.Resources;
    for (let type = 0; type < 20; type++) {
      const row = { ...fits, BaseMinMemory: 0, MaxConcurrent: 3 };
      expect(update[type]).toEqual(row);
      if (type < 15) expect(commit[type]).toEqual(row);
      else expect(commit[type].MinMemory).toBeGreaterThan(2 ** 50);
    }
  });

  it('hears the answers of a worker', async () => {
    await join();
    const [seal] = miner.joined;
    const ask = (method: string, params: unknown[] = []) =>
      miner.ask(`${url}/rpc/v0`, method, params);
    expect((await ask('Session')).result).toBe(seal?.session);
    expect((await ask('ProcessSession')).result).toBe(seal?.session);
    expect((await ask('Paths')).result).toEqual([]);
    expect((await ask('StorageLocal')).result).toEqual({});
    expect((await ask('WaitQuiet')).result).toBeNull();
    expect((await ask('Remove', [SECTOR.ID])).result).toBeNull();
    expect((await ask('TaskDisable', ['seal/v0/commit/2'])).result).toBeNull();
    expect((await ask('TaskTypes')).result).toEqual({ 'seal/v0/provereplicaupdate/2': {} });
    await ask('TaskEnable', ['seal/v0/commit/2']);
    expect(Object.keys((await ask('TaskTypes')).result)).toHaveLength(2);
    expect((await ask('Enabled')).result).toBe(true);
    await ask('SetEnabled', [false]);
    expect((await ask('Enabled')).result).toBe(false);
    expect((await ask('Session')).error).toEqual({ code: 1, message: 'worker disabled' });
    expect((await ask('ProcessSession')).result).toBe(seal?.session);
    await ask('SetEnabled', [true]);
    await ask('Shutdown');
    expect((await ask('Session')).error.message).toBe('worker disabled');
  });

  it('gets the proof of a first phase under the id that it was given', async () => {
    await join();
    const c1 = firstPhase(60_000);
    const { result } = await miner.ask(`${url}/rpc/v0`, 'SealCommit2', [
      SECTOR,
      c1.toString('base64'),
    ]);
    expect(result).toEqual({ Sector: SECTOR.ID, ID: expect.stringMatching(UUID) });
    await until(() => app.jobs.all.length === 1);
    const { request } = app.jobs.all[0] ?? {};
    expect(request).toMatchObject({ kind: 'porep', vanilla: [sha256(c1)], label: 'porep-1000-9' });
    const hex = (mark: number) =>
      Buffer.from(Array.from({ length: 32 }, (_, i) => mark + i)).toString('hex');
    expect(statementOf(request?.statement)).toEqual({
      ...{ kind: 'porep', registered_proof: 5, prover_id: 'f01000', sector_number: '9' },
      ...{ comm_r: hex(1), comm_d: hex(2), seed: hex(4), ticket: hex(5) },
    });
    app.jobs.complete('job-1', PROOF);
    await until(() => miner.results.size === 1);
    expect(miner.called('ReturnSealCommit2')).toEqual([
      { method: 'ReturnSealCommit2', params: [result, PROOF.toString('base64'), null] },
    ]);
  });

  it('gets the proof of an update, of its sector size', async () => {
    await join();
    const vanilla = [Buffer.alloc(20_000, 1), Buffer.alloc(100, 2)];
    const params = [
      ...[{ ...SECTOR, ProofType: 8 }, COMM_R, COMM_R, COMM_D],
      vanilla.map((each) => each.toString('base64')),
    ];
    const { result } = await miner.ask(`${url}/rpc/v0`, 'ProveReplicaUpdate2', params);
    await until(() => app.jobs.all.length === 1);
    const { request } = app.jobs.all[0] ?? {};
    expect(request).toMatchObject({ kind: 'snap-deals', vanilla: vanilla.map(sha256) });
    expect(request?.label).toBe('snap-1000-9');
    expect(statementOf(request?.statement)).toEqual({
      ...{ kind: 'snap-deals', registered_proof: 3 },
      ...{ comm_r_old: COMM_R, comm_r_new: COMM_R, comm_d_new: COMM_D },
    });
    app.jobs.complete('job-1', PROOF);
    await until(() => miner.results.size === 1);
    expect(miner.called('ReturnProveReplicaUpdate2')[0]?.params[0]).toEqual(result);
  });

  it('is joined again once it is another process', async () => {
    await join();
    await app.lotus.stop();
    const again = lotusApp({ miner: parseApiInfo('miner_api', miner.apiInfo), roles: ['seal'] });
    server.removeAllListeners('request');
    server.on(
      'request',
      (createAdaptorServer({ fetch: again.fetch }) as Server).listeners('request')[0] as never,
    );
    again.lotus.start(url);
    await until(() => miner.joined.length === 4);
    expect(miner.joined[3]?.session).not.toBe(miner.joined[0]?.session);
    await again.lotus.stop();
    again.calls.close();
  });

  it('is tried again where it is too old or away, and told of once', async () => {
    miner.apiVersion = 0x010600;
    app.lotus.start(url);
    await until(() => app.logged.length === 2);
    miner.apiVersion = 66_816;
    await new Promise((resolve) => setTimeout(resolve, 1100));
    await until(() => app.logged.length === 3);
    expect(app.logged.slice(1)).toMatchObject([
      {
        code: 'ERR_UNREACHABLE',
        message: expect.stringContaining('expected a miner of API 1.5, got 1.6'),
      },
      { message: 'joined the miner' },
    ]);
  });
});

describe('proofs of spacetime', () => {
  const challenged = (SectorNumber: number, Update = false) => ({
    ...{ SealProof: 5, SectorNumber, SealedCID: COMM_R, Challenge: [1, 2, 3], Update },
  });
  const RANDOMNESS = Buffer.alloc(32, 9).toString('base64');
  const window = (sectors: unknown[], partition = 0, type = 10) =>
    miner.ask(`${url}/worker/wdpost/rpc/v0`, 'GenerateWindowPoSt', [
      ...[type, 1000, sectors, partition, RANDOMNESS],
    ]);

  it('are made of what the stores of the miner hold', async () => {
    miner.sectors.set(3, Buffer.from('three'));
    miner.sectors.set(4, Buffer.from('four'));
    const answer = window([challenged(3), challenged(4, true)]);
    await until(() => app.jobs.all.length === 1);
    const { request } = app.jobs.all[0] ?? {};
    const digests = ['three', 'four'].map((text) => sha256(Buffer.from(text)));
    expect(request).toMatchObject({
      kind: 'window-post',
      vanilla: digests,
      label: 'wdpost-1000-0',
    });
    expect(statementOf(request?.statement)).toEqual({
      ...{ kind: 'window-post', registered_proof: 10, randomness: '09'.repeat(32) },
      ...{ sectors: ['3', '4'], comm_r: [COMM_R, COMM_R] },
    });
    app.jobs.complete('job-1', PROOF);
    const proof = { PoStProof: 10, ProofBytes: PROOF.toString('base64') };
    expect((await answer).result).toEqual({ PoStProofs: proof, Skipped: null });
    expect(miner.called('StorageFindSector').map(({ params }) => params)).toEqual([
      [{ Miner: 1000, Number: 3 }, 6, 0, false],
      [{ Miner: 1000, Number: 4 }, 24, 0, false],
    ]);
    expect(miner.reads).toContainEqual({ Miner: 1000, Sector: challenged(3), ProofType: 10 });
  });

  it('skip what cannot be read, and prove nothing then', async () => {
    miner.sectors.set(3, Buffer.from('three'));
    miner.sectors.set(5, Buffer.alloc(0));
    expect((await window([challenged(3), challenged(4), challenged(5)])).result).toEqual({
      PoStProofs: { PoStProof: 0, ProofBytes: null },
      Skipped: [
        { Miner: 1000, Number: 4 },
        { Miner: 1000, Number: 5 },
      ],
    });
    miner.refuses = ({ method }) => (method === 'StorageFindSector' ? 'not found' : undefined);
    expect((await window([challenged(3)])).result.Skipped).toEqual([{ Miner: 1000, Number: 3 }]);
    expect(app.jobs.all).toEqual([]);
  });

  it('of WinningPoSt are a list of one', async () => {
    miner.sectors.set(3, Buffer.from('three'));
    const path = `${url}/worker/winpost/rpc/v0`;
    const ask = () =>
      miner.ask(path, 'GenerateWinningPoSt', [0, 1000, [challenged(3)], RANDOMNESS]);
    const answer = ask();
    await until(() => app.jobs.all.length === 1);
    const { kind, label } = app.jobs.all[0]?.request ?? {};
    expect([kind, label]).toEqual(['winning-post', 'winpost-1000-3']);
    app.jobs.complete('job-1', PROOF);
    expect((await answer).result).toEqual([{ PoStProof: 0, ProofBytes: PROOF.toString('base64') }]);
    miner.sectors.clear();
    expect((await ask()).error.message).toBe('cannot read the challenged sector');
  });

  it('end with their call', async () => {
    miner.sectors.set(3, Buffer.from('three'));
    const gone = new AbortController();
    const body = JSON.stringify({
      ...{ id: 1, method: 'Filecoin.GenerateWindowPoSt' },
      params: [10, 1000, [challenged(3)], 0, RANDOMNESS],
    });
    const headers = { authorization: `Bearer ${miner.token}` };
    const sent = fetch(`${url}/rpc/v0`, { method: 'POST', body, headers, signal: gone.signal });
    sent.catch(() => {});
    await until(() => app.jobs.all.length === 1);
    gone.abort();
    await until(() => app.jobs.cancelled.length === 1);
    expect(app.jobs.cancelled).toEqual(['job-1']);
  });

  it('tell why there is none', async () => {
    miner.sectors.set(3, Buffer.from('three'));
    const answer = window([challenged(3)]);
    await until(() => app.jobs.all.length === 1);
    app.jobs.fail('job-1', { code: 'ERR_CANCELLED', data: { jobId: 'job-1' } });
    expect((await answer).error).toEqual({ code: 1, message: 'job job-1: cancelled' });
    const counted = 'window proof type 5 counts challenges from partition to partition';
    expect((await window([challenged(3)], 1, 5)).error.message).toContain(counted);
  });
});

describe('RemoteCommit2Endpoint', () => {
  const body = (c1: Buffer) =>
    JSON.stringify({ Sector: SECTOR.ID, ProofType: 5, Commit1Out: c1.toString('base64') });
  const send = (query: string, text: string) =>
    fetch(`${url}/remote/c2${query}`, { method: 'POST', body: text });

  it('answers the bytes of the proof, and once for the same bytes', async () => {
    const { token } = await app.tokens.create('lotus', 'write');
    const text = body(firstPhase(50_000));
    const [first, second] = [send(`?token=${token}`, text), send(`?token=${token}`, text)];
    await until(() => app.jobs.all.length === 1);
    app.jobs.complete('job-1', PROOF);
    for (const answer of [await first, await second]) {
      expect([answer.status, answer.headers.get('content-type')]).toEqual([
        200,
        'application/octet-stream',
      ]);
      expect(Buffer.from(await answer.arrayBuffer())).toEqual(PROOF);
    }
    expect(app.jobs.all).toHaveLength(1);
  });

  it('makes a new proof where the last attempt has failed', async () => {
    const { token } = await app.tokens.create('lotus', 'write');
    const text = body(firstPhase());
    const failed = send(`?token=${token}`, text);
    await until(() => app.jobs.all.length === 1);
    app.jobs.fail('job-1', {
      code: 'ERR_HOST_CRASHED',
      data: { device: 'cpu:0', cause: 'SIGKILL' },
    });
    expect((await failed).status).toBe(500);
    const again = send(`?token=${token}`, text);
    await until(() => app.jobs.all.length === 2);
    app.jobs.complete('job-2', PROOF);
    expect((await again).status).toBe(200);
  });

  it('lets in who has a token that may prove, in the URL alone', async () => {
    const { token: reader } = await app.tokens.create('reader', 'read');
    const { token: writer } = await app.tokens.create('writer', 'write');
    const text = body(firstPhase());
    for (const query of ['', '?token=wrong', `?token=${reader}`]) {
      const answer = await send(query, text);
      expect(answer.status).toBe(401);
      expect(await answer.text()).not.toContain(reader);
    }
    const headers = { authorization: `Bearer ${writer}` };
    const answer = await fetch(`${url}/remote/c2`, { method: 'POST', body: text, headers });
    expect(answer.status).toBe(401);
    expect(app.jobs.all).toEqual([]);
    expect(app.payloads.bytes.size).toBe(0);
    expect(JSON.stringify([app.logged, app.reported])).not.toContain(writer);
  });

  it.each([
    ['no JSON', '{', 400],
    ['another form', '{"Sector":5}', 400],
    ['no base64', '{"Commit1Out":"!"}', 400],
    ['no first phase', '{"Commit1Out":"AAAA"}', 422],
    ['a non-interactive proof', '{"ProofType":18}', 400],
  ])('refuses %s', async (_, text, status) => {
    const { token } = await app.tokens.create('lotus', 'write');
    expect((await send(`?token=${token}`, text)).status).toBe(status);
  });
});
