import { createHash, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { statSync } from 'node:fs';
import { mkdir, open, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { formatError, ProverError } from '../core/errors.ts';
import { readSmallFile } from '../core/small-file.ts';
import { syncFolder } from '../core/sync-folder.ts';
import { MIB } from '../core/units.ts';
import { alone } from '../keys/lock.ts';

/** What a token allows; each includes those before it. */
export const SCOPES = ['read', 'write', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

export interface TokenInfo {
  readonly id: string;
  readonly name: string;
  readonly scope: Scope;
  readonly createdAt: string;
}

const StoredToken = z.strictObject({
  id: z.uuid(),
  name: z.string(),
  scope: z.enum(SCOPES),
  createdAt: z.iso.datetime(),
  /**
   * SHA-256 of the token, hex. A token has 256 random bits, so that a slow hash would add nothing.
   */
  hash: z.string().regex(/^[0-9a-f]{64}$/),
});
type StoredToken = z.output<typeof StoredToken>;
const TokenFile = z.array(StoredToken).max(10_000);
const FILE_BYTES_MAX = 4 * MIB;

const PREFIX = 'plt_';
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;

export function includesScope(held: Scope, needed: Scope): boolean {
  return SCOPES.indexOf(held) >= SCOPES.indexOf(needed);
}

/**
 * The bearer tokens of a service, in a file that holds their hashes. A running service sees what
 * another process creates or revokes at its next request.
 */
export class TokenStore {
  readonly #path: string;
  #version = '';
  #required = false;
  #tokens: readonly StoredToken[] = [];

  constructor(path: string) {
    this.#path = path;
  }

  /** From now on nobody is let in without a token, also once the last one is revoked. */
  require(): void {
    this.#required = true;
  }

  /** Whether everyone may do everything. @throws ERR_FORMAT, ERR_FILE, ERR_TOO_LARGE */
  isOpen(): boolean {
    return !this.#required && this.list().length === 0;
  }

  /** @throws ERR_FORMAT for a damaged file: nobody is let in by mistake */
  list(): readonly TokenInfo[] {
    return this.#read().map(({ hash: _, ...info }) => info);
  }

  /** @returns the token itself, which is kept nowhere */
  async create(name: string, scope: Scope): Promise<{ token: string; info: TokenInfo }> {
    checkName(name);
    const token = `${PREFIX}${randomBytes(32).toString('base64url')}`;
    const createdAt = new Date().toISOString();
    const info = { id: randomUUID(), name, scope, createdAt };
    await this.#change((tokens) => {
      if (tokens.some((other) => other.name === name)) throw nameError('a name of its own', name);
      return [...tokens, { ...info, hash: hashOf(token) }];
    });
    return { token, info };
  }

  /** @param idOrName every token of that name is revoked. @throws ERR_PARAMS where there is none */
  async revoke(idOrName: string): Promise<readonly TokenInfo[]> {
    let gone: readonly TokenInfo[] = [];
    await this.#change((tokens) => {
      gone = this.list().filter(({ id, name }) => id === idOrName || name === idOrName);
      if (gone.length === 0) {
        const expected = 'the id or name of a token';
        throw new ProverError('ERR_PARAMS', { subject: 'token', expected, actual: idOrName });
      }
      const ids = new Set(gone.map(({ id }) => id));
      return tokens.filter(({ id }) => !ids.has(id));
    });
    return gone;
  }

  /**
   * Undefined for a token that is wrong or revoked. Every stored hash is compared, in equal time.
   */
  find(token: string): TokenInfo | undefined {
    const hash = Buffer.from(hashOf(token), 'hex');
    let found: TokenInfo | undefined;
    for (const { hash: stored, ...info } of this.#read()) {
      if (timingSafeEqual(hash, Buffer.from(stored, 'hex'))) found = info;
    }
    return found;
  }

  #read(): readonly StoredToken[] {
    const stat = statSync(this.#path, { throwIfNoEntry: false });
    const version = stat === undefined ? 'none' : `${stat.ino}:${stat.mtimeMs}:${stat.size}`;
    if (version === this.#version) return this.#tokens;
    this.#tokens =
      stat === undefined
        ? []
        : parse(readSmallFile(this.#path, FILE_BYTES_MAX, 'tokens.json').toString());
    this.#version = version;
    return this.#tokens;
  }

  /** Read, changed and written by one process at a time: no change undoes another. */
  async #change(change: (tokens: readonly StoredToken[]) => readonly StoredToken[]): Promise<void> {
    const { signal } = new AbortController();
    await alone(`${this.#path}.lock`, signal, async () => this.#write(change(this.#read())));
  }

  async #write(tokens: readonly StoredToken[]): Promise<void> {
    await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
    const fresh = `${this.#path}.${randomUUID()}`;
    const file = await open(fresh, 'wx', 0o600);
    try {
      await file.writeFile(`${JSON.stringify(tokens, null, 2)}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(fresh, this.#path);
    await syncFolder(dirname(this.#path));
  }
}

function checkName(name: string): void {
  if (!NAME.test(name)) throw nameError('letters, digits, dots, dashes and underscores', name);
}

function nameError(expected: string, actual: string): ProverError {
  return new ProverError('ERR_PARAMS', { subject: 'name', expected, actual });
}

function hashOf(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}

function parse(text: string): readonly StoredToken[] {
  try {
    return TokenFile.parse(JSON.parse(text));
  } catch {
    throw formatError('tokens.json', 'the tokens as proofline wrote them', 'something else');
  }
}
