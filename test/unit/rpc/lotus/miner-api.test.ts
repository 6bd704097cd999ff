import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { MinerApi, parseApiInfo } from '../../../../src/rpc/lotus/miner-api.ts';

describe('MINER_API_INFO', () => {
  // rpc.md 1.9, the grammar; lotus-worker makes http of every scheme.
  it.each([
    ['/ip4/127.0.0.1/tcp/2345/http', { url: 'http://127.0.0.1:2345' }],
    ['a.b.c:/ip4/127.0.0.1/tcp/2345/http', { token: 'a.b.c', url: 'http://127.0.0.1:2345' }],
    ['t:/dns/miner.example/tcp/443/wss', { token: 't', url: 'https://miner.example' }],
    ['t:/dns4/miner.example/tcp/443/tls/http', { token: 't', url: 'https://miner.example' }],
    ['/dns6/m/tcp/1/ws', { url: 'http://m:1' }],
    ['t:/ip6/::1/tcp/2345/http', { token: 't', url: 'http://[::1]:2345' }],
    ['t:http://miner:2345', { token: 't', url: 'http://miner:2345' }],
    ['http://miner:2345/', { url: 'http://miner:2345' }],
    ['t:wss://miner/some/path', { token: 't', url: 'https://miner/some/path' }],
    ['ws://1.2.3.4:5', { url: 'http://1.2.3.4:5' }],
  ])('%s', (info, parsed) => {
    expect(parseApiInfo('miner_api', info)).toEqual(parsed);
  });

  it.each([
    '',
    'token',
    'secret:',
    'secret:miner',
    'secret:/ip4/1.2.3.4',
    'secret:ftp://x',
    'secret:/ip4/1.2.3.4/udp/5',
  ])('refuses %j and does not quote it', (info) => {
    expect(() => parseApiInfo('miner_api', info)).toThrow(
      /^miner_api: expected \[token:\]address.* got another form$/,
    );
  });
});

describe('a call of a miner', () => {
  let server: Server;

  async function minerThat(answer: (response: ServerResponse) => void): Promise<MinerApi> {
    server = createServer((request, response) =>
      request.resume().on('end', () => answer(response)),
    );
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new MinerApi({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
  }

  afterEach(() => {
    server?.closeAllConnections();
    server?.close();
  });

  it.each([
    [
      'an error, in its words',
      200,
      '{"id":1,"jsonrpc":"2.0","error":{"code":1,"message":"no"}}',
      'no',
    ],
    ['an error of the protocol', 500, '{"error":{"code":-32601,"message":"method"}}', 'method'],
    ['a status from between', 502, 'bad gateway', 'HTTP 502'],
    ['a refused token', 401, '', 'HTTP 401'],
    ['what is no JSON', 200, 'hello', 'an answer that is no JSON-RPC'],
    ['null', 200, 'null', 'an answer that is no JSON-RPC'],
    ['what stands between', 200, '{"status":"ok"}', 'an answer that is no JSON-RPC'],
    ['a list', 200, '[1]', 'an answer that is no JSON-RPC'],
    ['an error without words', 200, '{"error":{"message":{"toString":1}}}', 'without words'],
    ['an error that is a text', 200, '{"error":"no"}', 'without words'],
    ['too much', 200, ' '.repeat(2 ** 20 + 1), 'an answer that is no JSON-RPC'],
  ])('tells of %s', async (_, status, text, message) => {
    const miner = await minerThat((response) => response.writeHead(status).end(text));
    await expect(miner.call('Version', [])).rejects.toThrow(message);
  });

  it('is sent again where its connection was closed meanwhile', async () => {
    let calls = 0;
    const miner = await minerThat((response) => {
      if (++calls === 2) response.socket?.destroy();
      else response.end(`{"result":${calls}}`);
    });
    expect(await miner.call('Version', [])).toBe(1);
    expect(await miner.call('Version', [])).toBe(3);
  });

  it('may say that there is no error', async () => {
    const miner = await minerThat((response) => response.end('{"error":null,"result":3}'));
    expect(await miner.call('Version', [])).toBe(3);
  });

  it.each([
    ['breaks off', { 'content-length': 1000 }, 'UND_ERR_SOCKET'],
    ['is not what its headers say', { 'content-encoding': 'gzip' }, 'Z_DATA_ERROR'],
  ])('is answered by nobody where the answer %s', async (_, headers, reason) => {
    const miner = await minerThat((response) => {
      response.writeHead(200, headers).write('{"result":');
      setTimeout(() => response.destroy(), 50);
    });
    const data = { reason };
    await expect(miner.call('Version', [])).rejects.toMatchObject({
      code: 'ERR_UNREACHABLE',
      data,
    });
  });

  it('ends in time in the middle of an answer, too', async () => {
    const miner = await minerThat((response) => response.writeHead(200).write('{'));
    await expect(miner.call('Version', [], AbortSignal.timeout(50))).rejects.toMatchObject({
      ...{ code: 'ERR_UNREACHABLE', data: { reason: 'no answer in time' } },
    });
  });

  it('follows no redirect with its token', async () => {
    const miner = await minerThat((response) =>
      response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(),
    );
    await expect(miner.call('Version', [])).rejects.toMatchObject({ code: 'ERR_UNREACHABLE' });
  });

  it('tells where nobody listens', async () => {
    const miner = await minerThat(() => {});
    server.close();
    await once(server, 'close');
    await expect(miner.call('Version', [])).rejects.toThrow(/^http:\S+: ECONNREFUSED$/);
  });
});
