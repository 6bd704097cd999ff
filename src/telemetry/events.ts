import type { Micros } from '../core/units.ts';

/**
 * The one event stream. Every stage is a pair `<STAGE>_START`, `<STAGE>_END`; every start has an
 * end, also on failure (the end then carries `error`, an error code). SYNTH, GPU_QUEUE, GPU_PICKUP
 * and GPU keep the meaning that users of cuzk know.
 */
export const STAGES = [
  'JOB', // accepted until settled: the root span
  'QUEUE', // accepted until a device host takes the job
  'HOST_BOOT', // start of the device host's process, where it does not run yet
  'SRS_LOAD', // key to its residency
  'VANILLA', // vanilla proofs, read and checked
  'LAYOUT', // a circuit's program, once in a host
  'SYNTH', // inputs to assignment
  'STAGE', // assignment to the device
  'EVALUATE', // A·w and B·w
  'H2D',
  'GPU', // NTTs and MSMs, on whatever device the backend has
  'NTT',
  'MSM_H',
  'MSM_L',
  'MSM_A',
  'MSM_B_G1',
  'MSM_B_G2',
  'FINISH', // device results to proof
  'VERIFY', // proof against the key's own verifying key
  'STORE', // the result to disk
  'RECHECK', // the same (r, s) on another backend, after a proof that did not verify
] as const;
export type Stage = (typeof STAGES)[number];
export type EventName = `${Stage}_START` | `${Stage}_END` | 'GPU_QUEUE' | 'GPU_PICKUP';

export type AttributeValue = string | number | boolean;

export interface ProverEvent {
  readonly atMicros: Micros;
  readonly event: EventName;
  readonly jobId: string;
  readonly partition?: number;
  /** Slot that did the work within its device; 0 where there is one. */
  readonly worker?: number;
  /** `backend:device`, for example `cpu-reference:0`. Absent for work of the service itself. */
  readonly device?: string;
  readonly attributes?: Readonly<Record<string, AttributeValue>>;
}

export type EventListener = (event: ProverEvent) => void;

/** Fan-out of events, in order, to listeners that must not throw and must not block. */
export class EventStream {
  readonly #listeners = new Set<EventListener>();

  emit(event: ProverEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** @returns a function that ends the subscription */
  subscribe(listener: EventListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
