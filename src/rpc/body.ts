import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { Context } from 'hono';
import { ProverError } from '../core/errors.ts';
import { JsonError, type JsonLimits, parseJson } from '../core/json.ts';
import { KIB } from '../core/units.ts';
import type { Caller } from './access.ts';

/** Bytes of a JSON request body. */
export const JSON_BODY_BYTES_MAX = 2 * 1024 * 1024;

/**
 * Of its shape: a verification key of 5,000 public inputs has 20,000 values, a job as many names as
 * vanilla proofs.
 */
export const JSON_LIMITS: JsonLimits = { levels: 32, values: 100_000, names: 12_000 };

/** A body brings so much in each such time, or its client is cut off. */
const BODY_PACE = { ms: 30_000, bytesMin: 32 * KIB } as const;

/** `incoming` is there when the request came over a socket. */
export interface Env {
  Bindings: { readonly incoming?: IncomingMessage };
  Variables: { caller: Caller };
}

/**
 * The request's body as it arrives, never held whole.
 * @throws ERR_PARAMS where the client is gone before its end
 */
export async function* bodyChunks(c: Context<Env>): AsyncGenerator<Uint8Array> {
  try {
    yield* chunksOf(bodyOf(c));
  } catch (cause) {
    const actual = 'the end of the connection';
    throw new ProverError('ERR_PARAMS', { subject: 'body', expected: 'all of it', actual }, cause);
  }
}

function bodyOf(c: Context<Env>): Readable {
  const incoming = (c.env as Env['Bindings'] | undefined)?.incoming;
  if (incoming !== undefined) {
    cutOffIfSlow(incoming);
    return incoming;
  }
  const { body } = c.req.raw;
  return body === null ? Readable.from([]) : Readable.fromWeb(body as ReadableStream<Uint8Array>);
}

/** Whether nobody is left to answer: the connection ended, perhaps in the middle of the request. */
export function clientIsGone(c: Context<Env>): boolean {
  const incoming = (c.env as Env['Bindings'] | undefined)?.incoming;
  return c.req.raw.signal.aborted || (incoming?.destroyed === true && !incoming.complete);
}

function cutOffIfSlow(incoming: IncomingMessage): void {
  const { socket } = incoming;
  let seen = socket.bytesRead;
  const timer = setInterval(() => {
    if (socket.bytesRead - seen < BODY_PACE.bytesMin) incoming.destroy();
    seen = socket.bytesRead;
  }, BODY_PACE.ms);
  for (const event of ['end', 'close']) incoming.once(event, () => clearInterval(timer));
}

/**
 * The chunks of `stream`; leaving the loop early keeps the connection, so that it can be answered.
 */
export function chunksOf(stream: Readable): AsyncIterable<Uint8Array> {
  return { [Symbol.asyncIterator]: () => stream.iterator({ destroyOnReturn: false }) };
}

/** The bytes of a JSON body. @throws ERR_MEDIA_TYPE, ERR_TOO_LARGE */
export async function readJsonBytes(c: Context<Env>): Promise<Uint8Array> {
  requireMediaType(c, 'application/json');
  checkDeclaredLength(c, JSON_BODY_BYTES_MAX);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of bodyChunks(c)) {
    bytes += chunk.length;
    if (bytes > JSON_BODY_BYTES_MAX) throw tooLarge(JSON_BODY_BYTES_MAX);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** @throws ERR_MEDIA_TYPE, ERR_TOO_LARGE, ERR_PARAMS */
export async function readJson(c: Context<Env>): Promise<unknown> {
  const bytes = await readJsonBytes(c);
  try {
    return parseJson(bytes, JSON_LIMITS);
  } catch (thrown) {
    if (!(thrown instanceof JsonError)) throw thrown;
    const { expected } = thrown;
    throw new ProverError('ERR_PARAMS', { subject: 'body', expected, actual: 'other text' });
  }
}

/** @throws ERR_TOO_LARGE before a body is read that says it is too large */
export function checkDeclaredLength(c: Context<Env>, limitBytes: number): void {
  if (Number(c.req.header('content-length') ?? 0) > limitBytes) throw tooLarge(limitBytes);
}

/** Media type without parameters, lower case; empty without a header. */
export function mediaTypeOf(c: Context<Env>): string {
  return (c.req.header('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** @throws ERR_MEDIA_TYPE for another type, another charset than UTF-8 or a compressed body */
export function requireMediaType(c: Context<Env>, ...expected: readonly string[]): void {
  const header = c.req.header('content-type') ?? '';
  const charset = /;\s*charset="?([^";\s]*)/i.exec(header)?.[1]?.toLowerCase() ?? 'utf-8';
  if (!expected.includes(mediaTypeOf(c)) || charset !== 'utf-8') {
    throw mediaTypeError(expected.join(' or '), header === '' ? 'none' : 'another type');
  }
  refuseEncoding(c);
}

/** @throws ERR_MEDIA_TYPE for a compressed body, which no route takes */
export function refuseEncoding(c: Context<Env>): void {
  const encoding = c.req.header('content-encoding') ?? 'identity';
  if (encoding !== 'identity') throw mediaTypeError('no content-encoding', 'one');
}

export function mediaTypeError(expected: string, actual: string): ProverError {
  return new ProverError('ERR_MEDIA_TYPE', { expected, actual });
}

function tooLarge(limit: number): ProverError {
  return new ProverError('ERR_TOO_LARGE', { subject: 'body', limit });
}
