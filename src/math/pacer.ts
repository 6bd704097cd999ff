import { setImmediate } from 'node:timers/promises';
import { ProverError } from '../core/errors.ts';

/** Half of the 50 ms that the event loop may be busy: a step may overrun by as much again. */
const SLICE_MILLIS = 25;

/**
 * Divides a long calculation into slices, between which the event loop runs and an abort is seen:
 * `if (pacer.due) await pacer.pause();`
 */
export class Pacer {
  readonly #signal: AbortSignal;
  #resumedAt = performance.now();

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  get due(): boolean {
    return performance.now() - this.#resumedAt >= SLICE_MILLIS;
  }

  /** @throws the ProverError that the signal was aborted with, or else ERR_CANCELLED */
  async pause(): Promise<void> {
    await setImmediate();
    if (this.#signal.aborted) throw cancelled(this.#signal.reason);
    this.#resumedAt = performance.now();
  }
}

/** A calculation does not know its job; whoever aborts it may name it in the reason. */
function cancelled(reason: unknown): ProverError {
  if (reason instanceof ProverError) return reason;
  return new ProverError('ERR_CANCELLED', { jobId: 'unnamed' }, reason);
}
