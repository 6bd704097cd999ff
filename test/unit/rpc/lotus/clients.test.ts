import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { NodejsProvider } from '@filecoin-shipyard/lotus-client-provider-nodejs';
import { LotusRPC } from '@filecoin-shipyard/lotus-client-rpc';
import { mainnet } from '@filecoin-shipyard/lotus-client-schema';
import { createAdaptorServer } from '@hono/node-server';
import { RPC } from 'iso-filecoin/rpc';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { acceptWebSockets } from '../../../../src/rpc/upgrade.ts';
import { firstPhase, sha256 } from '../../../support/lotus.ts';
import { type LotusApp, lotusApp } from '../../../support/lotus-app.ts';

// Clients from npm as they are (rpc.md 5), against the worker.
let app: LotusApp;
let server: Server;
let address: string;
let token: string;
const SECTOR = { ID: { Miner: 1000, Number: 9 }, ProofType: 5 };
const C1 = firstPhase(200_000);

beforeAll(async () => {
  app = lotusApp({ miner: { url: 'http://127.0.0.1:1' } });
  token = (await app.tokens.create('miner', 'admin')).token;
  server = createAdaptorServer({ fetch: app.fetch }) as Server;
  acceptWebSockets(server, app.lotus);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  address = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(async () => {
  await app.lotus.stop();
  server.closeAllConnections();
  server.close();
});

describe.each(['http', 'ws'])('@filecoin-shipyard/lotus-client-rpc over %s', (scheme) => {
  // biome-ignore lint/suspicious/noExplicitAny: its methods come from the schema
  const connect = (options: object): any => {
    const provider = new NodejsProvider(`${scheme}://${address}/rpc/v0`, options);
    const methods = { ...mainnet.workerApi.methods, StorageLocal: {}, GenerateWindowPoSt: {} };
    return new LotusRPC(provider, { schema: { methods } });
  };

  it('calls the worker', async () => {
    const client = connect({ token });
    expect(await client.version()).toBe(67328);
    expect(await client.taskTypes()).toHaveProperty('seal/v0/commit/2');
    expect(await client.storageLocal()).toEqual({});
    expect((await client.info()).Resources.CPUs).toBeGreaterThan(0);
    const call = await client.sealCommit2(SECTOR, C1.toString('base64'));
    expect(call.Sector).toEqual(SECTOR.ID);
    expect(app.payloads.has(sha256(C1))).toBe(true);
    const sessions = await Promise.all([client.session(), client.processSession()]);
    expect(sessions[0]).toBe(sessions[1]);
    await client.destroy();
  });

  it('hears why it is refused', async () => {
    const client = connect({ token });
    await expect(client.finalizeSector(SECTOR)).rejects.toThrow('method not supported');
    await expect(client.generateWindowPoSt()).rejects.toThrow(/wrong param count .*: 0 != 5/);
    await client.destroy();
    const stranger = connect({});
    await expect(stranger.version()).rejects.toThrow(
      "missing permission to invoke 'Version' (need 'admin')",
    );
    await stranger.destroy();
  });
});

describe('iso-filecoin', () => {
  const connect = () => new RPC({ api: `http://${address}/rpc/v0`, token });

  it('calls the worker', async () => {
    const client = connect();
    expect((await client.call({ method: 'Filecoin.Version' })).result).toBe(67328);
    const params = [SECTOR, C1.toString('base64')];
    const { result } = await client.call({ method: 'Filecoin.SealCommit2', params });
    expect(result).toMatchObject({ Sector: SECTOR.ID });
  });

  it('hears why it is refused', async () => {
    const params = [SECTOR];
    const { error } = await connect().call({ method: 'Filecoin.FinalizeSector', params });
    expect(error?.message).toContain('method not supported');
  });
});
