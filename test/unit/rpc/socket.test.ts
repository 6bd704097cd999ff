import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { type ServerType, serve } from '@hono/node-server';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createApp } from '../../../src/rpc/app.ts';
import { type FakeServices, fakeServices, KEY } from '../../support/fake-service.ts';
import { OPTIONS, until } from '../../support/rpc-app.ts';

const MIB = 1024 * 1024;
const UPLOAD_LIMIT = 48 * MIB;

let services: FakeServices;
let server: ServerType;
let port: number;
let reported: unknown[];
/** Requests that have reached the app, and those that it has done with. */
let requests: { begun: number; done: number };

beforeEach(async () => {
  services = fakeServices();
  reported = [];
  requests = { begun: 0, done: 0 };
  const app = createApp(services, {
    ...OPTIONS,
    uploadLimitBytes: UPLOAD_LIMIT,
    onInternalError: (error) => void reported.push(error),
  });
  const fetch: typeof app.fetch = async (...sent) => {
    requests.begun++;
    try {
      return await app.fetch(...sent);
    } finally {
      requests.done++;
    }
  };
  server = serve({ fetch, port: 0, hostname: '127.0.0.1' });
  await once(server, 'listening');
  port = (server.address() as AddressInfo).port;
});

afterEach(async () => {
  const closed = once(server, 'close');
  server.close();
  if ('closeAllConnections' in server) server.closeAllConnections();
  await closed;
});

function open(path: string, headers: Record<string, string | number>): ClientRequest {
  const request = httpRequest({ port, host: '127.0.0.1', path, method: 'POST', headers });
  request.on('error', () => {});
  return request;
}

async function answerOf(request: ClientRequest) {
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  return { status: response.statusCode, body: JSON.parse(await text(response)) };
}

const FORM = { 'content-type': 'multipart/form-data; boundary=x' };
const HEAD =
  `--x\r\ncontent-disposition: form-data; name="key"\r\n\r\n${KEY.name}\r\n` +
  '--x\r\ncontent-disposition: form-data; name="witness"; filename="w.wtns"\r\n\r\n';
const TAIL = '\r\n--x--\r\n';
const JSON_TYPE = { 'content-type': 'application/json' };

/** Writes until the peer stops taking, or `bytes` are written. @returns bytes that were written */
async function writeUntilBlocked(request: ClientRequest, bytes: number): Promise<number> {
  const chunk = Buffer.alloc(64 * 1024, 7);
  let written = 0;
  while (written < bytes) {
    if (!request.write(chunk)) {
      const drained = await Promise.race([
        once(request, 'drain').then(() => true),
        new Promise<false>((stop) => setTimeout(() => stop(false), 300)),
      ]);
      if (!drained) return written;
    }
    written += chunk.length;
  }
  return written;
}

describe('uploads', () => {
  it('stores a file of a form while it arrives', async () => {
    const seen: number[] = [];
    services.payloads.onChunk = (chunk) => void seen.push(chunk.length);
    const request = open('/v1/prove', FORM);
    const answered = answerOf(request);
    request.write(`${HEAD}first`);
    await until(() => seen.length > 0);
    request.end(`second${TAIL}`);
    expect(await answered).toMatchObject({ status: 202, body: { state: 'queued' } });
    const sha256 = createHash('sha256').update('firstsecond').digest('hex');
    expect(services.jobs.submitted[0]?.request).toMatchObject({ payload: sha256 });
  });

  it('stores 32 MiB, whole and in order', async () => {
    const request = open('/v1/payloads', {});
    const answered = answerOf(request);
    const hash = createHash('sha256');
    for (let i = 0; i < 512; i++) {
      const chunk = Buffer.alloc(64 * 1024, i);
      hash.update(chunk);
      if (!request.write(chunk)) await once(request, 'drain');
    }
    request.end();
    expect(await answered).toEqual({
      status: 201,
      body: { sha256: hash.digest('hex'), bytes: 32 * MIB },
    });
  });

  it.each([
    ['/v1/payloads', {}, ''],
    ['/v1/prove', FORM, HEAD],
  ])('%s holds the client back while the disk is slow', async (path, headers, head) => {
    let proceed = () => {};
    const slow = new Promise<void>((resolve) => {
      proceed = resolve;
    });
    services.payloads.onChunk = () => slow;
    const request = open(path, headers);
    const answered = answerOf(request);
    request.write(head);
    const written = await writeUntilBlocked(request, 40 * MIB);
    expect(written).toBeLessThan(20 * MIB);
    proceed();
    request.end(head === '' ? '' : TAIL);
    expect((await answered).status).toBeLessThan(300);
  });

  it.each([
    ['/v1/payloads', {}, 'half of it'],
    ['/v1/prove', FORM, `${HEAD}half of it`],
  ])('%s keeps nothing of a body whose client goes away', async (path, headers, half) => {
    let chunks = 0;
    services.payloads.onChunk = () => chunks++;
    const request = open(path, headers);
    request.write(half);
    await until(() => chunks > 0);
    request.destroy();
    await until(() => services.payloads.failures.length === 1);
    await until(() => requests.done === 1);
    expect(services.jobs.submitted).toEqual([]);
    expect(reported).toEqual([]);
  });

  it.each([
    ['/rpc', JSON_TYPE],
    ['/v1/verify', JSON_TYPE],
  ])('%s: half a body is no error of the service', async (path, headers) => {
    const request = open(path, headers);
    request.write('{"jsonrpc"');
    await until(() => requests.begun === 1);
    request.destroy();
    await until(() => requests.done === 1);
    expect(reported).toEqual([]);
  });

  it('a client that goes away before its form names a file leaves nothing behind', async () => {
    const request = open('/v1/prove', FORM);
    request.write('--x\r\ncontent-disposition: form-data; name="key"\r\n\r\nmul');
    await until(() => requests.begun === 1);
    request.destroy();
    await until(() => requests.done === 1);
    expect(reported).toEqual([]);
  });
});

describe('limits', () => {
  it.each([
    ['/rpc', JSON_TYPE, '', 3 * MIB],
    ['/v1/verify', JSON_TYPE, '', 3 * MIB],
    ['/v1/payloads', {}, '', UPLOAD_LIMIT + MIB],
    ['/v1/prove', FORM, HEAD, UPLOAD_LIMIT + MIB],
  ])(
    '%s answers 413 to a body without a length once it is too large',
    async (path, headers, head, bytes) => {
      const request = open(path, { ...headers, 'transfer-encoding': 'chunked' });
      const answered = answerOf(request);
      request.write(head);
      await writeUntilBlocked(request, bytes);
      expect(await answered).toMatchObject({ status: 413 });
      request.destroy();
      expect(reported).toEqual([]);
    },
  );

  it.each([
    ['/rpc', JSON_TYPE],
    ['/v1/payloads', {}],
    ['/v1/prove', FORM],
  ])('%s answers 413 to a length that is too large, without the body', async (path, headers) => {
    const request = open(path, { ...headers, 'content-length': 1024 * MIB });
    request.flushHeaders();
    expect(await answerOf(request)).toMatchObject({ status: 413 });
    request.destroy();
  });

  it('a form refused for a field is answered before its file has been sent', async () => {
    const request = open('/v1/prove', FORM);
    request.write(HEAD.replace('name="key"', 'name="path"'));
    expect(await answerOf(request)).toMatchObject({ status: 400 });
    request.destroy();
  });
});

describe('clients that wait', () => {
  const params = { kind: 'circom', key: KEY.name, payload: { base64: 'AAAA' }, wait: true };
  const call = { jsonrpc: '2.0', id: 1, method: 'prove', params };

  it.each([
    ['/rpc', call],
    ['/rpc', [call]],
    ['/v1/prove', params],
  ])('%s: going away ends the waiting and not the job', async (path, body) => {
    const request = open(path, JSON_TYPE);
    request.end(JSON.stringify(body));
    await until(() => services.jobs.waiting === 1);
    request.destroy();
    await until(() => services.jobs.waiting === 0);
    expect(services.jobs.get('job-1').state).toBe('queued');
    expect(reported).toEqual([]);
    services.jobs.complete('job-1');
    const later = open('/rpc', JSON_TYPE);
    later.end(
      JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'result', params: { job_id: 'job-1' } }),
    );
    expect(await answerOf(later)).toMatchObject({ body: { result: { state: 'completed' } } });
  });

  it('answers them once the job has ended', async () => {
    const request = open('/v1/prove', JSON_TYPE);
    request.end(JSON.stringify(params));
    const answered = answerOf(request);
    await until(() => services.jobs.waiting === 1);
    services.jobs.complete('job-1');
    expect(await answered).toMatchObject({ status: 200, body: { verified: true } });
  });
});

describe('raw requests', () => {
  async function exchange(message: string): Promise<string> {
    const socket = connect(port, '127.0.0.1');
    socket.write(message);
    return text(socket);
  }

  it.each([
    ['no Host', 'GET /status HTTP/1.1\r\nconnection: close\r\n\r\n', 400],
    [
      'a foreign Host',
      'GET /status HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n',
      403,
    ],
    [
      'two Hosts',
      'GET /status HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\nconnection: close\r\n\r\n',
      403,
    ],
    [
      'a foreign Host beside a target of ours',
      'GET http://localhost/status HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n',
      403,
    ],
    ['our Host', 'GET /status HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n', 200],
  ])('%s', async (_, message, status) => {
    expect(await exchange(message)).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });
});
