import type { ErrorRecord } from '../core/errors.ts';
import type { Micros } from '../core/units.ts';
import type { BackendChoice, ProveOutcome } from '../pipeline/pipeline.ts';

export const JOB_STATES = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const;
export type JobState = (typeof JOB_STATES)[number];

/**
 * What a client asks for. `key` and `payload` name what the service already holds, never a path.
 */
export interface JobRequest {
  readonly kind: 'circom';
  /** Name or SHA-256 of a stored key. */
  readonly key: string;
  /** SHA-256 of a stored payload: a `.wtns` file. */
  readonly payload: string;
  /** Absent: the fastest backend that works here. */
  readonly backend?: BackendChoice;
}

export interface Job {
  readonly id: string;
  readonly request: JobRequest;
  readonly state: JobState;
  readonly submittedAt: Micros;
  readonly startedAt?: Micros;
  readonly endedAt?: Micros;
  /** Share done, 0 to 1. */
  readonly progress: number;
  /** W3C trace id of the job's trace, 32 hex digits. */
  readonly traceId: string;
  /** In state `completed`. */
  readonly outcome?: ProveOutcome;
  /** In state `failed`. */
  readonly error?: ErrorRecord;
}

export function isSettled(state: JobState): boolean {
  return state !== 'queued' && state !== 'running';
}
