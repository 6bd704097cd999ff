import { once } from 'node:events';
import type { Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { ByteSource } from '../../src/core/source.ts';
import { JSON_BODY_BYTES_MAX } from '../../src/rpc/body.ts';
import { KEY } from '../support/fake-service.ts';
import { type TestApp, testApp } from '../support/rpc-app.ts';
import type { Target } from './targets.ts';

/** Jobs of the fake service are kept; a fresh one takes over before they are many. */
const CASES_AN_APP = 500;
/** Of a process that may have to wait for a busy machine; processor time is judged apart. */
const ANSWER_MS_MAX = 20_000;

let app: TestApp | undefined;
let cases = 0;

/** With `job-1`, completed. */
async function service(): Promise<TestApp> {
  if (app === undefined || cases++ % CASES_AN_APP === 0) {
    app = testApp({ uploadLimitBytes: 20_000 });
    app.services.jobs.instant = true;
    await app.post('/v1/prove', { kind: 'circom', key: KEY.name, payload: { base64: '' } });
  }
  return app;
}

/** Any answer but of an internal error. @throws a bug that the service has reported */
async function post(path: string, source: ByteSource, type: string): Promise<string> {
  const current = await service();
  const body = (await source.read(0, source.size)) as Uint8Array<ArrayBuffer>;
  const method = path === '/v1/log-level' ? 'PUT' : 'POST';
  const headers = { 'content-type': type };
  const answer = await current.request(path, { method, body, headers });
  return judge(current, answer.status, await answer.text());
}

function judge(current: TestApp, status: number, text: string): string {
  const [bug] = current.reported.splice(0);
  if (bug !== undefined) throw bug.error;
  if (status >= 500) throw new Error(`expected no status of 500 or more, got ${status}: ${text}`);
  return `${status} ${/"message":"([^"]{0,100})/.exec(text)?.[1] ?? ''}`;
}

const JSON_TYPE = 'application/json';

async function envelope(source: ByteSource): Promise<string> {
  const current = await service();
  const body = (await source.read(0, source.size)) as Uint8Array<ArrayBuffer>;
  const headers = { 'content-type': JSON_TYPE };
  const answer = await current.request('/rpc', { method: 'POST', body, headers });
  const text = await answer.text();
  const told = judge(current, answer.status, text);
  if (answer.status === 204) return told;
  const parsed: unknown = JSON.parse(text);
  for (const one of Array.isArray(parsed) ? parsed : [parsed]) {
    const is = (name: string) => Object.hasOwn(one, name);
    if (one.jsonrpc !== '2.0' || !is('id') || is('result') === is('error')) {
      throw new Error(`expected a JSON-RPC response, got ${JSON.stringify(one).slice(0, 200)}`);
    }
  }
  return told;
}

let server: Server | undefined;

/** Whole requests, byte by byte as they are, over a socket. */
async function request(source: ByteSource): Promise<string> {
  const current = await service();
  server ??= createAdaptorServer({
    fetch: async (request, env) => (app as TestApp).fetch(request, env as object),
  }) as Server;
  if (!server.listening) {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
  }
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let text = '';
  const stream = () => /^content-type: text\/event-stream/im.test(text);
  const late = setTimeout(() => socket.destroy(new Error('no end')), ANSWER_MS_MAX);
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    if (stream()) socket.destroy();
  });
  let problem = '';
  socket.on('error', (cause) => {
    problem = cause.message;
  });
  socket.end(await source.read(0, source.size));
  await once(socket, 'close').catch(() => {});
  clearTimeout(late);
  if (problem === 'no end') throw new Error(`expected an answer in ${ANSWER_MS_MAX} ms, got none`);
  const status = Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0);
  return judge(current, status, text);
}

export const HTTP_TARGETS: readonly Target[] = [
  { name: 'rpc', kind: 'text', jsonBytesMax: JSON_BODY_BYTES_MAX, run: envelope },
  { name: 'prove-body', kind: 'text', run: (s) => post('/v1/prove', s, JSON_TYPE) },
  {
    name: 'verify-body',
    kind: 'text',
    jsonBytesMax: JSON_BODY_BYTES_MAX,
    run: (s) => post('/v1/verify', s, JSON_TYPE),
  },
  { name: 'log-level-body', kind: 'text', run: (s) => post('/v1/log-level', s, JSON_TYPE) },
  {
    name: 'form',
    kind: 'text',
    run: (source) => post('/v1/prove', source, 'multipart/form-data; boundary=x'),
  },
  { name: 'request', kind: 'text', run: request },
];
