import type { Context } from 'hono';
import { ProverError } from '../core/errors.ts';
import type { RateLimit } from './limits.ts';
import { includesScope, type Scope, type TokenStore } from './tokens.ts';

/** Who sends a request. */
export interface Caller {
  /** Id of the token; `local` where the service has no tokens and listens to this machine only. */
  readonly id: string;
  readonly scope: Scope;
}

const LOCAL: Caller = { id: 'local', scope: 'admin' };

/** Decides who may call. As long as a service has no tokens, everyone on its machine may do all. */
export class Access {
  readonly #tokens: TokenStore;
  readonly #rate: RateLimit;

  constructor(tokens: TokenStore, rate: RateLimit) {
    this.#tokens = tokens;
    this.#rate = rate;
  }

  /** @throws ERR_UNAUTHORIZED, ERR_RATE_LIMITED */
  admit(c: Context): Caller {
    const caller = this.#identify(c);
    const seconds = this.#rate.take(caller.id);
    if (seconds > 0) throw new ProverError('ERR_RATE_LIMITED', { retryAfterSeconds: seconds });
    return caller;
  }

  #identify(c: Context): Caller {
    if (this.#tokens.isOpen()) return LOCAL;
    const header = c.req.header('authorization');
    const token = /^Bearer ([\x21-\x7e]{1,256})$/i.exec(header ?? '')?.[1];
    const found = token === undefined ? undefined : this.#tokens.find(token);
    if (found === undefined) {
      const actual = header === undefined ? 'none' : 'one that is not valid';
      throw new ProverError('ERR_UNAUTHORIZED', { actual });
    }
    return found;
  }
}

/** @throws ERR_SCOPE */
export function requireScope(caller: Caller, needed: Scope): void {
  if (includesScope(caller.scope, needed)) return;
  throw new ProverError('ERR_SCOPE', { needed, held: caller.scope });
}
