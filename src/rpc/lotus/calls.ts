import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ProverError, toProverError } from '../../core/errors.ts';
import type { FilecoinRequest } from '../../jobs/job.ts';
import type { JobService } from '../../jobs/service.ts';
import type { WorkerCall, WorkerCallResult, WorkerCallStore } from '../../jobs/worker-calls.ts';
import { type MinerApi, MinerError, minerProblem } from './miner-api.ts';
import { proofOf, submitPatiently } from './proofs.ts';

/** As Lotus's own worker: a result is offered again so often, without end. */
const OFFER_EVERY_MS = 5000;
/** What a miner says that has the result already (lotus, manager_calltracker.go). */
const DELIVERED = /already reported|already has a response/;
/** storiface.ErrorCode: what the sector's state machine decides by. */
const CALL_ERROR = { unknown: 0, temporary: 100 } as const;
/** Pause before a result is noted again that the disk refused. */
const REWRITE_MS = 2000;

export interface CallsOptions {
  readonly store: WorkerCallStore;
  readonly jobs: JobService;
  readonly miner: MinerApi;
  /** Hears what is not as it should be, and goes on. */
  warn(error: ProverError, callId: string): void;
  /** Hears that the miner has a result, which is forgotten here. */
  delivered(callId: string): void;
}

/**
 * Calls that a miner makes and we answer later. A call is on disk before the miner has its id, and
 * its result until the miner has taken it: neither an end of this process nor of the miner loses
 * one.
 */
export class WorkerCalls {
  readonly #options: CallsOptions;
  readonly #ending = new AbortController();
  /** Told of once, not every five seconds. */
  readonly #refused = new Set<string>();
  #wake = () => {};
  #woken = false;
  #delivering: Promise<void> = Promise.resolve();
  /** A signal each: thousands of calls on one would be thousands of listeners. */
  readonly #following = new Set<AbortController>();

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  /** Calls without a result. */
  get pending(): number {
    return this.#following.size;
  }

  /** Takes up what an earlier process has left, and begins to deliver. To be called once. */
  start(): void {
    for (const call of this.#options.store.list())
      if (call.result === undefined) this.#follow(call);
    this.#delivering = this.#deliver();
  }

  /** @returns the call's id. @throws ERR_STORAGE */
  begin(call: Omit<WorkerCall, 'id' | 'result'>): string {
    const id = randomUUID();
    const begun = { ...call, id };
    this.#options.store.insert(begun);
    this.#follow(begun);
    return id;
  }

  /** Jobs go on as the service has it; nothing more is delivered. */
  async stop(): Promise<void> {
    this.#ending.abort();
    for (const following of this.#following) following.abort();
    this.#rouse();
    await this.#delivering;
  }

  #follow(call: WorkerCall): void {
    const following = new AbortController();
    this.#following.add(following);
    void this.#prove(call, following.signal)
      .then((result) => result && this.#finish(call.id, result))
      .finally(() => {
        this.#following.delete(following);
        this.#rouse();
      });
  }

  /** Undefined: the service shuts down, and the next one goes on. */
  async #prove(
    { id, request }: WorkerCall,
    signal: AbortSignal,
  ): Promise<WorkerCallResult | undefined> {
    const { jobs } = this.#options;
    try {
      const keyed: FilecoinRequest = { ...request, idempotencyKey: `worker-call-${id}` };
      const job = await submitPatiently(jobs, keyed, signal);
      return { proofBase64: (await proofOf(jobs, job.id, signal)).toString('base64') };
    } catch (thrown) {
      const error = toProverError(thrown);
      if (signal.aborted || error.code === 'ERR_SHUTTING_DOWN') return undefined;
      this.#options.warn(error, id);
      const reason = error.code === 'ERR_INTERNAL' ? 'internal error' : error.message;
      return { reason, temporary: error.spec.retry !== 'never' };
    }
  }

  async #finish(id: string, result: WorkerCallResult): Promise<void> {
    for (;;) {
      try {
        return this.#options.store.finish(id, result);
      } catch (thrown) {
        this.#options.warn(toProverError(thrown), id);
        if (this.#ending.signal.aborted) return;
        await sleep(REWRITE_MS);
      }
    }
  }

  async #deliver(): Promise<void> {
    while (!this.#ending.signal.aborted) {
      this.#woken = false;
      await this.#offerAll().catch((thrown) => this.#options.warn(toProverError(thrown), ''));
      if (!this.#woken) await this.#pause();
    }
  }

  #pause(): Promise<void> {
    if (this.#ending.signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, OFFER_EVERY_MS);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  #rouse(): void {
    this.#woken = true;
    this.#wake();
  }

  async #offerAll(): Promise<void> {
    const { store, warn, delivered } = this.#options;
    for (const call of store.list()) {
      if (call.result === undefined || this.#ending.signal.aborted) continue;
      try {
        if (await this.#offer(call, call.result)) {
          store.remove(call.id);
          delivered(call.id);
        }
        this.#refused.delete(call.id);
      } catch (thrown) {
        const error = toProverError(thrown);
        if (!this.#refused.has(call.id)) warn(error, call.id);
        this.#refused.add(call.id);
        // The others would not reach it either.
        if (error.code === 'ERR_UNREACHABLE') return;
      }
    }
  }

  /** Whether the miner has it now, or had it before. @throws ERR_UNREACHABLE */
  async #offer(call: WorkerCall, result: WorkerCallResult): Promise<boolean> {
    const { miner, warn } = this.#options;
    const id = { Sector: { Miner: call.miner, Number: call.sector }, ID: call.id };
    const params =
      'proofBase64' in result
        ? [id, result.proofBase64, null]
        : [
            id,
            null,
            {
              Code: result.temporary ? CALL_ERROR.temporary : CALL_ERROR.unknown,
              Message: result.reason,
            },
          ];
    try {
      await miner.call(call.returnMethod, params, this.#ending.signal);
      return true;
    } catch (thrown) {
      if (!(thrown instanceof MinerError)) throw thrown;
      if (DELIVERED.test(thrown.message)) return true;
      if (!this.#refused.has(call.id)) warn(minerProblem(miner, thrown), call.id);
      this.#refused.add(call.id);
      return false;
    }
  }
}
