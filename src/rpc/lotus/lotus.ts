import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Hono } from 'hono';
import { ProverError } from '../../core/errors.ts';
import { readSmallFile } from '../../core/small-file.ts';
import { KIB } from '../../core/units.ts';
import type { PayloadStore } from '../../jobs/payloads.ts';
import type { JobService } from '../../jobs/service.ts';
import type { WorkerCallStore } from '../../jobs/worker-calls.ts';
import type { KeyCatalog } from '../../keys/stored-key.ts';
import type { Env } from '../body.ts';
import type { PublicError } from '../errors.ts';
import type { Admission } from '../guard.ts';
import type { TokenStore } from '../tokens.ts';
import { LotusAccess, type Permissions, parseSecret } from './auth.ts';
import { WorkerCalls } from './calls.ts';
import { ROLES, type Role, WorkerEndpoint } from './endpoint.ts';
import { LotusFace } from './face.ts';
import { type ApiInfo, MinerApi, parseApiInfo } from './miner-api.ts';
import { Registration } from './registration.ts';
import { LotusWorker } from './worker.ts';

const SECRET_BYTES_MAX = 64 * KIB;

/** As the configuration has it; empty texts are absent. */
export interface LotusConfig {
  /** `[TOKEN:]ADDR` */
  readonly minerApi: string;
  /** Absent: where the service listens. */
  readonly workerUrl: string;
  readonly listen: string;
  readonly workerRoles: readonly Role[];
  readonly workerParallel: number;
  readonly lotusSecretFile: string;
}

export interface LotusSettings {
  readonly miner?: ApiInfo;
  readonly url?: string;
  readonly roles: readonly Role[];
  readonly parallel: number;
  readonly secret?: Uint8Array;
}

const EVERY_ADDRESS = /^(0\.0\.0\.0|\[::\]):/;

/** @throws ERR_PARAMS, ERR_FILE naming the setting or the file */
export async function readLotusSettings(config: LotusConfig): Promise<LotusSettings> {
  const { minerApi, workerUrl, listen, workerRoles, workerParallel, lotusSecretFile } = config;
  if (minerApi !== '' && workerUrl === '' && EVERY_ADDRESS.test(listen)) {
    throw new ProverError('ERR_PARAMS', {
      ...{ subject: 'worker_url', expected: 'where the miner reaches this service' },
      actual: 'none, while it listens at every address',
    });
  }
  return {
    ...(minerApi !== '' && { miner: parseApiInfo('miner_api', minerApi) }),
    ...(workerUrl !== '' && { url: workerUrl }),
    ...{ roles: [...new Set(workerRoles)], parallel: workerParallel },
    ...(lotusSecretFile !== '' && { secret: readSecret(lotusSecretFile) }),
  };
}

export interface LotusOptions {
  readonly jobs: JobService;
  readonly payloads: PayloadStore;
  readonly calls: WorkerCallStore;
  readonly keys: KeyCatalog;
  readonly tokens: TokenStore;
  readonly admits: Admission;
  readonly log: Log;
  describeError(thrown: unknown): PublicError;
}

interface Log {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** All of the service that Lotus sees: the worker's methods, and the tie to its miner. */
export class Lotus {
  readonly #face: LotusFace;
  readonly #endpoints: readonly WorkerEndpoint[];
  readonly #settings: LotusSettings;
  readonly #log: Log;
  readonly #keys: KeyCatalog;
  readonly #miner: { readonly api: MinerApi; readonly calls: WorkerCalls } | undefined;
  #registration: Registration | undefined;

  constructor(settings: LotusSettings, options: LotusOptions) {
    const { jobs, payloads, tokens, log } = options;
    const { roles, parallel, secret } = settings;
    this.#settings = settings;
    this.#log = log;
    this.#keys = options.keys;
    this.#endpoints = roles.map((role) => new WorkerEndpoint(role));
    this.#miner = settings.miner && minerOf(settings.miner, options);
    const miner = this.#miner && { miner: this.#miner };
    const api = this.#miner?.api;
    this.#face = new LotusFace({
      ...options,
      worker: new LotusWorker({ jobs, payloads, parallel, ...miner }),
      endpoints: this.#endpoints,
      access: new LotusAccess({
        tokens,
        ...(secret && { secret }),
        ...(api && {
          askMiner: async (token) => (await api.call('AuthVerify', [token])) as Permissions,
        }),
      }),
    });
  }

  mount(app: Hono<Env>): void {
    this.#face.mount(app);
  }

  owns(url: string | undefined): boolean {
    return this.#face.owns(url);
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    return this.#face.upgrade(request, socket, head);
  }

  /** Joins the miner, if there is one. @param url that the service listens at */
  start(url: string): void {
    if (this.#miner === undefined) return;
    const { api, calls } = this.#miner;
    calls.start();
    const fields = { miner: api.info.url, roles: this.#settings.roles.join(', ') };
    this.#registration = new Registration({
      miner: api,
      endpoints: this.#endpoints,
      url: this.#settings.url ?? url,
      connected: () => this.#log.info(fields, 'joined the miner'),
      warn: ({ code, message }) => this.#log.warn({ ...fields, code }, message),
    });
    this.#registration.start();
    void this.#warnOfMissingKeys();
  }

  /** The miner would hear of them one task at a time. */
  async #warnOfMissingKeys(): Promise<void> {
    const stored = (await this.#keys.list().catch(() => [])).map(({ circuit = '' }) => circuit);
    const circuits = this.#settings.roles.flatMap((role) => ROLES[role].circuits);
    for (const circuit of circuits) {
      if (stored.some((name) => name.startsWith(circuit))) continue;
      const advice = 'its tasks fail until `proofline keys import` has stored one';
      this.#log.warn({ circuit }, `no key for ${circuit}: ${advice}`);
    }
  }

  /** Results that no miner has taken by now stay, for the next process. */
  async stop(): Promise<void> {
    await this.#registration?.stop();
    await this.#miner?.calls.stop();
    this.#face.close();
  }
}

function minerOf(info: ApiInfo, { jobs, calls, log }: LotusOptions) {
  const api = new MinerApi(info);
  const warn = ({ code, message }: ProverError, callId: string): void =>
    log.warn({ call_id: callId, code }, message);
  const delivered = (callId: string): void =>
    log.info({ call_id: callId }, 'the miner has the result');
  return { api, calls: new WorkerCalls({ store: calls, jobs, miner: api, warn, delivered }) };
}

function readSecret(path: string): Uint8Array {
  const secret = parseSecret(readSmallFile(path, SECRET_BYTES_MAX).toString());
  if (secret !== undefined) return secret;
  const expected = 'a jwt-hmac-secret of a keystore, or base64 of 32 bytes or more';
  throw new ProverError('ERR_PARAMS', { subject: path, expected, actual: 'something else' });
}
