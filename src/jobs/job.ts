import { createHash } from 'node:crypto';
import type { ErrorRecord } from '../core/errors.ts';
import type { Micros } from '../core/units.ts';
import type { BackendChoice, ProveOutcome } from '../pipeline/pipeline.ts';

export const JOB_STATES = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const;
export type JobState = (typeof JOB_STATES)[number];

/**
 * Most urgent first. A class starts before those after it; within a class, first come first served.
 */
export const PRIORITIES = ['critical', 'high', 'normal', 'low'] as const;
export type Priority = (typeof PRIORITIES)[number];

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
  /** Default `normal`. */
  readonly priority?: Priority;
  /** When the job fails if it has no result yet. */
  readonly deadline?: Micros;
  /** Fail rather than take the proof of another backend than the chosen one. */
  readonly strict?: boolean;
  /** Requests with the same key and the same content are one job. */
  readonly idempotencyKey?: string;
}

export interface Job {
  readonly id: string;
  /** Ascending in order of arrival, never used twice. */
  readonly sequence: number;
  readonly request: JobRequest;
  /** SHA-256 of the key file, found when the job was accepted. */
  readonly keyDigest: string;
  readonly state: JobState;
  readonly submittedAt: Micros;
  readonly startedAt?: Micros;
  readonly endedAt?: Micros;
  /** Share done, 0 to 1. */
  readonly progress: number;
  /** Times that the job was started. Each start fences off the results of those before it. */
  readonly attempts: number;
  /** Times that its device host ended under it. */
  readonly crashes: number;
  /** W3C trace id of the job's trace, 32 hex digits. */
  readonly traceId: string;
  /** The caller's span in that trace, 16 hex digits. */
  readonly parentSpanId?: string;
  /** In state `completed`. */
  readonly outcome?: ProveOutcome;
  /** In state `failed`. */
  readonly error?: ErrorRecord;
}

export function isSettled(state: JobState): boolean {
  return state !== 'queued' && state !== 'running';
}

/** What two requests with one idempotency key must agree in. Hex. */
export function fingerprint({ kind, payload, backend, strict }: JobRequest, key: string): string {
  const content = [kind, key, payload, backend ?? null, strict ?? false];
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}
