import { ProverError } from '../../core/errors.ts';
import { ROLES, type WorkerEndpoint } from './endpoint.ts';
import { type MinerApi, minerProblem } from './miner-api.ts';

/** As lotus-worker: the miner is looked at so often. */
const LOOK_EVERY_MS = 10_000;
const RETRY_MS_MIN = 1_000;
const RETRY_MS_MAX = 60_000;
/** A miner asks each worker every 10 s; one that has not for so long has lost it. */
const UNHEARD_MS = 60_000;
/** 1.5: the miner's API that has the methods we call. */
const MINER_API_MAJOR_MINOR = 0x0105;

export interface RegistrationOptions {
  readonly miner: MinerApi;
  readonly endpoints: readonly WorkerEndpoint[];
  /** Base of the URLs that the miner reaches us at. */
  readonly url: string;
  /** Hears when the miner has taken us. */
  connected(): void;
  /** Hears why it has not, once until it has. */
  warn(error: ProverError): void;
}

/**
 * Keeps us registered with a miner: after a start of either side, and when the miner no longer asks
 * for us. It never gives up.
 */
export class Registration {
  readonly #options: RegistrationOptions;
  readonly #ending = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #wake = () => {};
  /** Of the miner's process that we are registered with. */
  #session: unknown;
  #registeredAt = 0;
  #told = false;

  constructor(options: RegistrationOptions) {
    this.#options = options;
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#ending.abort();
    this.#wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    let retryMs = RETRY_MS_MIN;
    while (!this.#ending.signal.aborted) {
      try {
        await this.#look();
        retryMs = RETRY_MS_MIN;
        this.#told = false;
        await this.#pause(LOOK_EVERY_MS);
      } catch (thrown) {
        if (this.#ending.signal.aborted) return;
        if (!this.#told) this.#options.warn(minerProblem(this.#options.miner, thrown));
        this.#told = true;
        await this.#pause(retryMs);
        retryMs = Math.min(2 * retryMs, RETRY_MS_MAX);
      }
    }
  }

  async #look(): Promise<void> {
    const { miner } = this.#options;
    const session = await miner.call('Session', [], this.#ending.signal);
    if (session === this.#session && !this.#isForgotten()) return;
    await this.#register();
    this.#session = session;
    this.#registeredAt = performance.now();
    this.#options.connected();
  }

  /** @throws MinerError, ERR_UNREACHABLE */
  async #register(): Promise<void> {
    const { miner, endpoints, url } = this.#options;
    const { signal } = this.#ending;
    const version = (await miner.call('Version', [], signal)) as { APIVersion?: number } | null;
    const actual = version?.APIVersion ?? 0;
    if (actual >> 8 !== MINER_API_MAJOR_MINOR) {
      const reason = `expected a miner of API 1.5, got ${actual >> 16}.${(actual >> 8) & 255}`;
      throw new ProverError('ERR_UNREACHABLE', { url: miner.info.url, reason });
    }
    for (const { role, enabled } of endpoints) {
      if (!enabled) continue;
      await miner.call('WorkerConnect', [`${url}${ROLES[role].path}/rpc/v0`], signal);
    }
  }

  #isForgotten(): boolean {
    const now = performance.now();
    return this.#options.endpoints.some(
      ({ enabled, heartbeatAt }) =>
        enabled && now - Math.max(heartbeatAt, this.#registeredAt) > UNHEARD_MS,
    );
  }

  #pause(ms: number): Promise<void> {
    if (this.#ending.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
