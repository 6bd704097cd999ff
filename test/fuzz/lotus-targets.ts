import { Duplex } from 'node:stream';
import type { ByteSource } from '../../src/core/source.ts';
import { WebSocketConnection, WebSocketError } from '../../src/rpc/lotus/websocket.ts';
import { type LotusApp, lotusApp } from '../support/lotus-app.ts';
import type { Target } from './targets.ts';

/** Calls that were accepted wait in it; a fresh one takes over before they are many. */
const CASES_AN_APP = 300;
/** Some methods wait: for quiet, which does not come. */
const WAIT_MS = 50;

let app: LotusApp | undefined;
let token = '';
let cases = 0;

async function worker(): Promise<LotusApp> {
  if (app === undefined || cases++ % CASES_AN_APP === 0) {
    await app?.lotus.stop();
    app?.calls.close();
    app = lotusApp({ miner: { url: 'http://127.0.0.1:1' } });
    ({ token } = await app.tokens.create('fuzz', 'admin'));
  }
  return app;
}

/** A body to the worker's methods: answered by JSON-RPC, never by a fault of ours. */
async function body(source: ByteSource): Promise<string> {
  const { request, reported } = await worker();
  const gone = new AbortController();
  const timer = setTimeout(() => gone.abort(), WAIT_MS);
  const answer = await request(`/rpc/v0?token=${token}`, {
    method: 'POST',
    body: (await source.read(0, source.size)) as Uint8Array<ArrayBuffer>,
    signal: gone.signal,
  });
  clearTimeout(timer);
  const text = await answer.text();
  const [bug] = reported.splice(0);
  if (bug !== undefined) throw bug;
  const { status } = answer;
  if (![200, 400, 500].includes(status)) throw new Error(`expected another status, got ${status}`);
  const parsed: unknown = text === '' ? [] : JSON.parse(text);
  for (const one of Array.isArray(parsed) ? parsed : [parsed]) {
    const is = (name: string) => Object.hasOwn(one, name);
    if (one.jsonrpc !== '2.0' || !is('id') || is('result') === is('error')) {
      throw new Error(`expected a JSON-RPC response, got ${JSON.stringify(one).slice(0, 200)}`);
    }
  }
  return `${status} ${/"message":"([^"]{0,100})/.exec(text)?.[1] ?? ''}`;
}

/** What a client sends over a WebSocket. */
async function frames(source: ByteSource): Promise<string> {
  const bytes = await source.read(0, source.size);
  const sent: Buffer[] = [];
  const socket = new Duplex({
    read() {},
    write(chunk, _, done) {
      sent.push(chunk);
      done();
    },
  });
  socket.push(bytes);
  socket.push(null);
  const connection = new WebSocketConnection(socket, Buffer.alloc(0));
  let [messages, length] = [0, 0];
  try {
    for await (const message of connection.messages()) {
      messages++;
      for await (const piece of message) length += piece.length;
    }
  } catch (thrown) {
    if (!(thrown instanceof WebSocketError)) throw thrown;
    return thrown.message;
  } finally {
    connection.destroy();
  }
  if (length > bytes.length) throw new Error('expected no more than was sent, got more');
  return `${messages > 1 ? 'messages' : messages} ${sent.length > 0 ? 'answered' : ''}`;
}

export const LOTUS_TARGETS: readonly Target[] = [
  { name: 'lotus-body', kind: 'text', run: body },
  { name: 'lotus-frames', kind: 'binary', run: frames },
];
