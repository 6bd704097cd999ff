import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { createAdaptorServer } from '@hono/node-server';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { WebSocketConnection } from '../../../../src/rpc/lotus/websocket.ts';
import { acceptWebSockets } from '../../../../src/rpc/upgrade.ts';
import { firstPhase, sha256 } from '../../../support/lotus.ts';
import { type LotusApp, lotusApp } from '../../../support/lotus-app.ts';
import { until } from '../../../support/rpc-app.ts';

let app: LotusApp;
let server: Server;
let base: string;
let token: string;
const open: WebSocket[] = [];

beforeEach(async () => {
  app = lotusApp({ miner: { url: 'http://127.0.0.1:1' } });
  token = (await app.tokens.create('miner', 'admin')).token;
  server = createAdaptorServer({ fetch: app.fetch }) as Server;
  acceptWebSockets(server, app.lotus);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterEach(async () => {
  for (const socket of open.splice(0)) socket.terminate();
  await app.lotus.stop();
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

async function socket(path = `/rpc/v0?token=${token}`, options = {}): Promise<WebSocket> {
  const client = new WebSocket(`ws://${base}${path}`, { perMessageDeflate: false, ...options });
  open.push(client);
  await once(client, 'open');
  return client;
}

const call = (id: unknown, method: string, params: unknown = []) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });

async function next(client: WebSocket) {
  const [data] = await once(client, 'message');
  return JSON.parse(String(data));
}

const KEY_HEADER = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
const HANDSHAKE = [
  'Connection: keep-alive, Upgrade',
  'Upgrade: WebSocket',
  'Sec-WebSocket-Version: 13',
];
const SECTOR = { ID: { Miner: 1000, Number: 9 }, ProofType: 5 };

describe('calls over a WebSocket', () => {
  it('are answered like those over HTTP', async () => {
    const client = await socket();
    client.send(call(0, 'Filecoin.Version'));
    expect(await next(client)).toEqual({ id: 0, jsonrpc: '2.0', result: 67328 });
    client.send(call('x', 'Filecoin.Nope'));
    const message = "method 'Filecoin.Nope' not found";
    expect(await next(client)).toEqual({
      id: 'x',
      jsonrpc: '2.0',
      error: { code: -32601, message },
    });
    client.send('{');
    expect((await next(client)).error).toEqual({ code: -32700, message: 'Parse error' });
    client.send(call(null, 'Filecoin.Version'));
    client.send(call(2, 'Filecoin.Version'));
    expect((await next(client)).id).toBe(2);
  });

  it('run at once, and each answer comes when it is there', async () => {
    const client = await socket();
    client.send(call(1, 'Filecoin.SealCommit2', [SECTOR, firstPhase().toString('base64')]));
    expect((await next(client)).id).toBe(1);
    client.send(call(2, 'Filecoin.WaitQuiet'));
    client.send(call(3, 'Filecoin.Session'));
    expect((await next(client)).id).toBe(3);
    await until(() => app.jobs.all.length === 1);
    app.jobs.complete('job-1', Buffer.alloc(192));
    expect(await next(client)).toEqual({ id: 2, jsonrpc: '2.0', result: null });
  });

  it('end when they are cancelled, and are answered', async () => {
    const client = await socket();
    client.send(call(1, 'Filecoin.SealCommit2', [SECTOR, firstPhase().toString('base64')]));
    await next(client);
    client.send(call(7, 'Filecoin.WaitQuiet'));
    client.send(call(undefined, 'xrpc.cancel', [6]));
    client.send(call(undefined, 'xrpc.cancel', [7]));
    const error = { code: 1, message: 'context canceled' };
    expect(await next(client)).toEqual({ id: 7, jsonrpc: '2.0', error });
  });

  it('take a message of 17,000 fragments', async () => {
    const client = await socket();
    const c1 = firstPhase(820_000);
    const message = Buffer.from(call(1, 'Filecoin.SealCommit2', [SECTOR, c1.toString('base64')]));
    for (let at = 0; at < message.length; at += 64) {
      const fin = at + 64 >= message.length;
      client.send(message.subarray(at, at + 64), { fin, binary: false });
    }
    expect((await next(client)).result.Sector).toEqual(SECTOR.ID);
    expect(app.payloads.has(sha256(c1))).toBe(true);
  });

  it('are refused over the limit', async () => {
    const client = await socket();
    client.send(`[${'1,'.repeat(2 ** 20)}1]`);
    const message = 'request bigger than maximum 2097152 allowed';
    expect((await next(client)).error).toEqual({ code: -32700, message });
    expect((await once(client, 'close'))[0]).toBe(1009);
  });
});

describe('the connection', () => {
  it('lives by pings in both directions', async () => {
    const client = await socket();
    client.ping('are you there');
    const [data] = await once(client, 'pong');
    expect(String(data)).toBe('are you there');
    vi.useFakeTimers({ toFake: ['setInterval', 'performance'] });
    try {
      const pinged = await socket();
      const ping = once(pinged, 'ping');
      vi.advanceTimersByTime(5000);
      await ping;
      const closed = once(pinged, 'close');
      pinged.pause();
      vi.advanceTimersByTime(70_000);
      pinged.resume();
      await closed;
    } finally {
      vi.useRealTimers();
    }
  });

  it('ends by the close of either side', async () => {
    const client = await socket();
    client.close(1000);
    expect((await once(client, 'close'))[0]).toBe(1000);
    const other = await socket();
    const closed = once(other, 'close');
    await app.lotus.stop();
    await closed;
  });

  it('may break off in the middle of a message', async () => {
    const client = await socket();
    client.send(Buffer.alloc(100_000, 'a'), { fin: false, binary: false });
    client.terminate();
    expect(await (await fetch(`http://${base}/health/live`)).json()).toBeDefined();
    expect(app.reported).toEqual([]);
  });

  it('is refused, and told of, where the tokens cannot be read', async () => {
    await writeFile(app.tokensPath, 'damaged');
    const client = new WebSocket(`ws://${base}/rpc/v0?token=${token}`);
    const [error] = await once(client, 'error');
    expect(error.message).toBe('Unexpected server response: 500');
    expect((await fetch(`http://${base}/health/live`)).status).toBe(200);
  });

  it('may be reset while its token is looked up', async () => {
    const client = connect(Number(base.split(':')[1]), '127.0.0.1');
    client.on('error', () => {});
    await once(client, 'connect');
    const lines = ['GET /rpc/v0?token=a.b.c HTTP/1.1', `Host: ${base}`, ...HANDSHAKE, KEY_HEADER];
    client.write(`${lines.join('\r\n')}\r\n\r\n`);
    client.resetAndDestroy();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect((await fetch(`http://${base}/health/live`)).status).toBe(200);
  });

  it.each([
    ['no token', '/rpc/v0', {}, undefined],
    ['a wrong token', '/rpc/v0?token=wrong', {}, 401],
    ['a wrong header', '/rpc/v0', { headers: { authorization: 'bearer x' } }, 401],
    ['a foreign origin', '/rpc/v0', { origin: 'https://evil.example' }, 403],
    ['a foreign name', '/rpc/v0', { headers: { host: 'evil.example' } }, 403],
    ['a path of others', '/status', {}, 401],
    ['an unknown path', '/none', {}, 401],
  ])('with %s is what it is over HTTP', async (_, path, options, status) => {
    const client = new WebSocket(`ws://${base}${path}`, options);
    open.push(client);
    if (status === undefined) {
      await once(client, 'open');
      client.send(call(1, 'Filecoin.Version'));
      expect((await next(client)).error.message).toContain('missing permission');
      return;
    }
    const [error] = await once(client, 'error');
    expect(error.message).toBe(`Unexpected server response: ${status}`);
  });
});

describe('frames that no client may send', () => {
  async function raw(headers: readonly string[], path = '/rpc/v0'): Promise<[Socket, string]> {
    const client = connect(Number(base.split(':')[1]), '127.0.0.1');
    client.on('error', () => {});
    client.write(`GET ${path} HTTP/1.1\r\nHost: ${base}\r\n${headers.join('\r\n')}\r\n\r\n`);
    const [head] = await once(client, 'data');
    return [client, String(head)];
  }

  it('are not needed for the handshake of RFC 6455', async () => {
    const [client, head] = await raw([...HANDSHAKE, KEY_HEADER]);
    expect(head).toContain('Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=');
    client.destroy();
  });

  it.each([
    ['no key', HANDSHAKE],
    ['another version', [...HANDSHAKE.slice(0, 2), 'Sec-WebSocket-Version: 8', KEY_HEADER]],
  ])('a handshake with %s is refused', async (_, headers) => {
    const [client, head] = await raw(headers);
    expect(head).toMatch(/^HTTP\/1\.1 400 /);
    client.destroy();
  });

  it.each([
    ['without a mask', [0x81, 0x01, 0x61]],
    ['with a reserved bit', [0xc1, 0x80, 0, 0, 0, 0]],
    ['of an unknown kind', [0x83, 0x80, 0, 0, 0, 0]],
    ['that go on with nothing', [0x80, 0x80, 0, 0, 0, 0]],
    ['that begin anew', [0x01, 0x80, 0, 0, 0, 0, 0x81, 0x80, 0, 0, 0, 0]],
    ['of control that are long', [0x89, 0xfe, 0x01, 0x00, 0, 0, 0, 0]],
    ['of control that are parted', [0x09, 0x80, 0, 0, 0, 0]],
    ['of more bytes than numbers count', [0x81, 0xff, ...Array(8).fill(0xff), 0, 0, 0, 0]],
  ])('%s end the connection', async (_, bytes) => {
    const [client] = await raw([...HANDSHAKE, KEY_HEADER]);
    const [answer] = await Promise.all([once(client, 'data'), client.write(Buffer.from(bytes))]);
    expect([...(answer[0] as Buffer)]).toEqual([0x88, 2, 0x03, 0xea]);
    await once(client, 'close');
  });
});

it('fragments without bytes do not keep others waiting', async () => {
  const fragment = Buffer.of(0x00, 0x80, 0, 0, 0, 0);
  const frames = [Buffer.of(0x01, 0x80, 0, 0, 0, 0), ...Array(100_000).fill(fragment)];
  const socket = new PassThrough();
  socket.end();
  let turns = 0;
  const others = setInterval(() => turns++, 1);
  const connection = new WebSocketConnection(socket, Buffer.concat(frames));
  const read = async () => {
    for await (const message of connection.messages()) for await (const _ of message);
  };
  await expect(read()).rejects.toThrow('the end of the connection');
  clearInterval(others);
  expect(turns).toBeGreaterThan(3);
});

describe('other protocols', () => {
  it('are not spoken, and the request is answered as if none had been asked for', async () => {
    const client = connect(Number(base.split(':')[1]), '127.0.0.1');
    const body = call(1, 'Filecoin.Version');
    const head = [
      `POST /rpc/v0?token=${token} HTTP/1.1`,
      ...[`Host: ${base}`, 'Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c'],
      ...['HTTP2-Settings: AAEAAEAA', `Content-Length: ${body.length}`],
    ];
    const text = `${head.join('\r\n')}\r\n\r\n${body}`;
    client.write(text.slice(0, -10));
    setTimeout(() => client.write(text.slice(-10)), 50);
    const [answer] = await once(client, 'data');
    expect(String(answer)).toMatch(/^HTTP\/1\.1 200 OK/);
    client.write(text);
    const [again] = await once(client, 'data');
    expect(String(again)).toMatch(/^HTTP\/1\.1 200 OK[\s\S]*"result":67328/);
    client.destroy();
  });
});
