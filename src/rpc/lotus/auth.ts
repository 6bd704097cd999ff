import { createHash } from 'node:crypto';
import { jwtVerify } from 'jose';
import type { Scope, TokenStore } from '../tokens.ts';
import { MinerError } from './miner-api.ts';

/** Permissions of Lotus, flat; a real token of an administrator lists all four. */
export type Permissions = readonly string[];

const ALL: Permissions = ['read', 'write', 'sign', 'admin'];
const OF_SCOPE: Readonly<Record<Scope, Permissions>> = {
  read: ['read'],
  write: ['read', 'write'],
  admin: ALL,
};

/** How long a miner's word about a token is taken for. */
const GRANTED_MS = 60_000;
const REFUSED_MS = 1_000;
/** Tokens that a miner was asked about; the one that was asked about first is forgotten. */
const VERDICTS_MAX = 1000;
/** Questions to the miner at once: more tokens than that are refused unasked. */
const QUESTIONS_MAX = 8;
const TOKEN = /^[\x21-\x7e]{1,4096}$/;

export interface LotusAccessOptions {
  readonly tokens: TokenStore;
  /** The secret that a Lotus or Curio node signs its tokens with. */
  readonly secret?: Uint8Array;
  /** Asks a miner what a token permits, as lotus-worker does. */
  readonly askMiner?: (token: string) => Promise<Permissions>;
}

interface Verdict {
  readonly permissions: Promise<Permissions | undefined>;
  until: number;
}

/**
 * Who may call the worker: with a token of ours, one that the node's secret signed, or one that the
 * miner vouches for. Tokens are kept as hashes only.
 */
export class LotusAccess {
  readonly #options: LotusAccessOptions;
  readonly #verdicts = new Map<string, Verdict>();
  #questions = 0;

  constructor(options: LotusAccessOptions) {
    this.#options = options;
  }

  /**
   * What a request permits, by its Authorization header or the `token` of its query. Without
   * either, it may read, as in Go's servers; or all, where nobody has any token.
   * @returns undefined for a token that is not valid
   */
  async permissions(
    authorization: string | undefined,
    query: string | undefined,
  ): Promise<Permissions | undefined> {
    if (authorization === undefined && query === undefined) return this.#isOpen() ? ALL : ['read'];
    const token = authorization === undefined ? query : bearerOf(authorization);
    if (token === undefined || !TOKEN.test(token)) return undefined;
    const own = this.#options.tokens.find(token);
    if (own !== undefined) return OF_SCOPE[own.scope];
    return (await this.#signed(token)) ?? (await this.#vouchedFor(token));
  }

  /** As the rest of the service: without any token, this machine may do everything. */
  #isOpen(): boolean {
    const { tokens, secret, askMiner } = this.#options;
    return secret === undefined && askMiner === undefined && tokens.isOpen();
  }

  async #signed(token: string): Promise<Permissions | undefined> {
    const { secret } = this.#options;
    if (secret === undefined) return undefined;
    try {
      const { payload } = await jwtVerify(token, secret, { algorithms: ['HS256'] });
      return permissionsOf(payload.Allow);
    } catch {
      return undefined;
    }
  }

  async #vouchedFor(token: string): Promise<Permissions | undefined> {
    const { askMiner } = this.#options;
    if (askMiner === undefined || token.split('.').length !== 3) return undefined;
    const name = createHash('sha256').update(token).digest('base64');
    const known = this.#verdicts.get(name);
    if (known !== undefined && performance.now() < known.until) return await known.permissions;
    if (this.#questions === QUESTIONS_MAX) return await known?.permissions;
    const permissions = this.#ask(askMiner, token).catch(() => known?.permissions);
    const verdict = { permissions, until: Number.POSITIVE_INFINITY };
    this.#verdicts.delete(name);
    this.#verdicts.set(name, verdict);
    if (this.#verdicts.size > VERDICTS_MAX) {
      this.#verdicts.delete(this.#verdicts.keys().next().value as string);
    }
    const granted = await permissions;
    verdict.until = performance.now() + (granted === undefined ? REFUSED_MS : GRANTED_MS);
    return granted;
  }

  /** @throws where the miner cannot be asked: then its last word counts */
  async #ask(
    askMiner: (token: string) => Promise<Permissions>,
    token: string,
  ): Promise<Permissions | undefined> {
    this.#questions++;
    try {
      return permissionsOf(await askMiner(token));
    } catch (thrown) {
      if (thrown instanceof MinerError) return undefined;
      throw thrown;
    } finally {
      this.#questions--;
    }
  }
}

/** The prefix counts exactly, with one space. */
function bearerOf(authorization: string): string | undefined {
  return authorization.startsWith('Bearer ') ? authorization.slice('Bearer '.length) : undefined;
}

function permissionsOf(allow: unknown): Permissions | undefined {
  const isList = Array.isArray(allow) && allow.every((each) => typeof each === 'string');
  return isList ? allow : undefined;
}

/**
 * The secret in a file: an entry of a Lotus keystore (`auth-jwt-private`, JSON), or base64 as
 * Curio's configuration has it. Undefined for anything else.
 */
export function parseSecret(text: string): Uint8Array | undefined {
  const base64 = text.trim().startsWith('{') ? privateKeyOf(text) : text.trim();
  const valid = base64 !== undefined && /^[A-Za-z0-9+/]+={0,2}$/.test(base64);
  const secret = Buffer.from(valid ? base64 : '', 'base64');
  return secret.length >= SECRET_BYTES_MIN ? secret : undefined;
}

/** Of HS256's hash: RFC 7518, section 3.2. */
const SECRET_BYTES_MIN = 32;

function privateKeyOf(text: string): string | undefined {
  try {
    const { Type, PrivateKey } = JSON.parse(text);
    return Type === 'jwt-hmac-secret' && typeof PrivateKey === 'string' ? PrivateKey : undefined;
  } catch {
    return undefined;
  }
}
