import { ProverError, toProverError } from '../../core/errors.ts';
import { MIB } from '../../core/units.ts';
import { goJson } from './envelope.ts';

/** Of an answer; the longest is the list of a sector's places. */
const ANSWER_BYTES_MAX = MIB;
const CALL_MS_MAX = 30_000;
/** A connection that was kept may be closed just when it is used again. */
const CLOSED_MEANWHILE: readonly string[] = ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'];

export interface ApiInfo {
  /** JWT of the node; absent: it may be asked what needs no permission. */
  readonly token?: string;
  /** http or https, without a path of methods. */
  readonly url: string;
}

/**
 * `[TOKEN:]ADDR` as in Lotus's MINER_API_INFO; ADDR is a multiaddr or a URL.
 * @throws ERR_PARAMS that does not quote it
 */
export function parseApiInfo(subject: string, info: string): ApiInfo {
  const colon = info.indexOf(':');
  const hasToken = !info.startsWith('/') && colon > 0 && !info.startsWith('//', colon + 1);
  const address = hasToken ? info.slice(colon + 1) : info;
  const url = address.startsWith('/') ? fromMultiaddr(address) : fromUrl(address);
  if (url === undefined) {
    const expected = '[token:]address, the address as /ip4/127.0.0.1/tcp/2345/http or as a URL';
    throw new ProverError('ERR_PARAMS', { subject, expected, actual: 'another form' });
  }
  return hasToken ? { token: info.slice(0, colon), url } : { url };
}

function fromMultiaddr(address: string): string | undefined {
  const pattern = /^\/(ip4|ip6|dns|dns4|dns6)\/([\w.:-]+)\/tcp\/(\d{1,5})((?:\/\w+)*)\/?$/;
  const [, family, host, port, rest] = pattern.exec(address) ?? [];
  if (host === undefined) return undefined;
  const scheme = /\/(https|wss|tls)\b/.test(rest ?? '') ? 'https' : 'http';
  return fromUrl(`${scheme}://${family === 'ip6' ? `[${host}]` : host}:${port}`);
}

/** The connection is made by POST, whatever the scheme: as lotus-worker does. */
function fromUrl(address: string): string | undefined {
  const url = address.replace(/^ws(s?):/, 'http$1:');
  if (!URL.canParse(url) || !/^https?:/.test(url)) return undefined;
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname}`.replace(/\/$/, '');
}

/** The miner answered with an error. */
export class MinerError extends Error {
  override readonly name = 'MinerError';
}

/** What went wrong with a miner, for the log. */
export function minerProblem({ info: { url } }: MinerApi, thrown: unknown): ProverError {
  if (!(thrown instanceof MinerError)) return toProverError(thrown);
  const reason = `the miner refuses: ${thrown.message}`;
  return new ProverError('ERR_UNREACHABLE', { url, reason }, thrown);
}

/** A lotus-miner's JSON-RPC, as its workers use it. */
export class MinerApi {
  readonly info: ApiInfo;
  #nextId = 1;

  constructor(info: ApiInfo) {
    this.info = info;
  }

  /** @throws MinerError with the miner's words; ERR_UNREACHABLE */
  async call(method: string, params: readonly unknown[], signal?: AbortSignal): Promise<unknown> {
    const { url, token } = this.info;
    const late = AbortSignal.timeout(CALL_MS_MAX);
    const request = { jsonrpc: '2.0', id: this.#nextId++, method: `Filecoin.${method}`, params };
    const answer = await this.#fetch(`${url}/rpc/v0`, {
      method: 'POST',
      body: goJson(request),
      redirect: 'error',
      signal: signal === undefined ? late : AbortSignal.any([signal, late]),
      headers: {
        'content-type': 'application/json',
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
    });
    // As Go's client does: other statuses come from what stands between.
    if (answer.status > 400 && answer.status !== 500) {
      await answer.body?.cancel();
      throw this.#unreachable(`HTTP ${answer.status}`);
    }
    const { result, error } = this.#parse(await this.#textOf(answer));
    if (error === undefined || error === null) return result;
    const { message } = error;
    throw new MinerError(typeof message === 'string' ? message : 'an error without words');
  }

  async #fetch(url: string, init: RequestInit, again = true): Promise<Response> {
    try {
      return await fetch(url, init);
    } catch (thrown) {
      const { cause } = thrown as Error & { cause?: NodeJS.ErrnoException };
      const isClosed = CLOSED_MEANWHILE.includes(cause?.code ?? '');
      if (again && isClosed) return await this.#fetch(url, init, false);
      throw this.#unreachable(failureOf(thrown));
    }
  }

  /** The connection may end, or the time be over, in the middle of it. */
  async #textOf(answer: Response): Promise<string> {
    try {
      return await textOf(answer);
    } catch (thrown) {
      throw this.#unreachable(failureOf(thrown));
    }
  }

  /** What only looks like an answer must not count as one: a result would pass for delivered. */
  #parse(text: string): Answer {
    try {
      const parsed = JSON.parse(text);
      const isObject = typeof parsed === 'object' && parsed !== null;
      if (isObject && ANSWER_FIELDS.some((name) => Object.hasOwn(parsed, name))) return parsed;
    } catch {
      // Told below.
    }
    throw this.#unreachable('an answer that is no JSON-RPC');
  }

  #unreachable(reason: string): ProverError {
    return new ProverError('ERR_UNREACHABLE', { url: this.info.url, reason });
  }
}

interface Answer {
  readonly result?: unknown;
  readonly error?: { readonly message?: unknown } | null;
}
/** One of them is there; of a method without a result, older servers leave that out. */
const ANSWER_FIELDS = ['result', 'error', 'jsonrpc'] as const;

/** Why nothing came, for a person. */
function failureOf(thrown: unknown): string {
  const { cause, name } = thrown as Error & { cause?: NodeJS.ErrnoException };
  const other = name === 'TimeoutError' ? 'no answer in time' : name;
  return cause?.code || (cause?.message ?? other);
}

async function textOf(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length;
    if (bytes > ANSWER_BYTES_MAX) return '';
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
