import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { serve } from '../support/command.ts';
import { FakeMiner, firstPhase } from '../support/lotus.ts';
import type { Load } from './loads.ts';
import { expectWithinLimits, type Measured, measure, table } from './measure.ts';

const MIB = 1024 * 1024;
/** A first phase of 32 GiB takes 38.6 MB, 51.4 MB in base64. */
const C1_BYTES = 38_600_000;
/** Its call is a body of 256 MiB, less 6 kB. */
const LARGEST_BYTES = 201_322_000;
/** As gorilla's WebSocket sends them, Go's. */
const FRAGMENT_BYTES = 4096;

/** A call of SealCommit2 with a first phase of so many bytes. */
function sealing(c1Bytes: number): Buffer {
  const sector = { ID: { Miner: 1000, Number: 9 }, ProofType: 5 };
  const params = [sector, firstPhase(c1Bytes).toString('base64')];
  return Buffer.from(JSON.stringify({ id: 1, method: 'Filecoin.SealCommit2', params }));
}

function posts(token: string, count: number, body: Buffer): Load {
  return async (url) => {
    const post = async () => {
      const headers = { authorization: `Bearer ${token}`, 'content-length': body.length };
      const sent = request(new URL('/rpc/v0', url), { method: 'POST', headers });
      sent.end(body);
      const [response] = await once(sent, 'response');
      return await text(response);
    };
    const answers = await Promise.all(Array.from({ length: count }, post));
    return `${accepted(answers)} of ${count} calls by POST accepted`;
  };
}

function sockets(token: string, count: number, message: Buffer): Load {
  return async (url) => {
    const send = async () => {
      const path = `${url.replace('http', 'ws')}/rpc/v0?token=${token}`;
      const client = new WebSocket(path, { perMessageDeflate: false });
      await once(client, 'open');
      const answer = once(client, 'message');
      for (let at = 0; at < message.length; at += FRAGMENT_BYTES) {
        const fin = at + FRAGMENT_BYTES >= message.length;
        client.send(message.subarray(at, at + FRAGMENT_BYTES), { fin, binary: false });
        while (client.bufferedAmount > MIB) await new Promise((resolve) => setTimeout(resolve, 1));
      }
      const [data] = await answer;
      client.close();
      return String(data);
    };
    const answers = await Promise.all(Array.from({ length: count }, send));
    return `${accepted(answers)} of ${count} calls by WebSocket accepted`;
  };
}

function accepted(answers: readonly string[]): number {
  return answers.filter((answer) => answer.includes('"result":{"Sector"')).length;
}

it('takes the largest calls of a miner within its limits', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'proofline-load-'));
  const [sealed, largest] = [sealing(C1_BYTES), sealing(LARGEST_BYTES)];
  const miner = new FakeMiner();
  await miner.listen();
  await using service = await serve(folder, {
    PROOFLINE_MINER_API: miner.apiInfo,
    PROOFLINE_LOG_LEVEL: 'error',
  });
  const loads: readonly [string, Load][] = [
    ['20 first phases by POST', posts(miner.token, 20, sealed)],
    ['20 first phases by WebSocket', sockets(miner.token, 20, sealed)],
    ['a body of 256 MiB', posts(miner.token, 1, largest)],
  ];
  const rows: Measured[] = [];
  for (const [name, load] of loads) rows.push(await measure(name, service, load));
  console.log(table(rows));
  expect(await service.stop('SIGTERM')).toBe(0);
  await miner.close();
  await rm(folder, { recursive: true });
  expect(rows.map(({ done }) => done)).toEqual([
    '20 of 20 calls by POST accepted',
    '20 of 20 calls by WebSocket accepted',
    '1 of 1 calls by POST accepted',
  ]);
  for (const row of rows) expectWithinLimits(row);
});
