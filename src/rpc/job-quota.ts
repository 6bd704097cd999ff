import { ProverError } from '../core/errors.ts';
import type { EventStream } from '../telemetry/events.ts';

/** Bounds the unsettled jobs of each caller, so that one cannot fill the queue for all. */
export class JobQuota {
  readonly #limit: number;
  readonly #owners = new Map<string, string>();

  constructor(limit: number, events: EventStream) {
    this.#limit = limit;
    events.subscribe(({ event, jobId }) => {
      if (event === 'JOB_END') this.#owners.delete(jobId);
    });
  }

  /** @throws ERR_QUEUE_FULL */
  check(caller: string): void {
    let unsettled = 0;
    for (const owner of this.#owners.values()) if (owner === caller) unsettled++;
    if (unsettled < this.#limit) return;
    throw new ProverError('ERR_QUEUE_FULL', { limit: this.#limit, retryAfterSeconds: 5 });
  }

  /** Counts a job that was accepted and has not settled yet. */
  add(caller: string, jobId: string): void {
    this.#owners.set(jobId, caller);
  }
}
