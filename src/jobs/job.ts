import { createHash } from 'node:crypto';
import type { ErrorRecord } from '../core/errors.ts';
import type { Micros } from '../core/units.ts';
import type { BackendChoice, FilecoinKind, ProveOutcome } from '../pipeline/pipeline.ts';

export const JOB_STATES = ['queued', 'running', 'completed', 'failed', 'cancelled'] as const;
export type JobState = (typeof JOB_STATES)[number];

/** What jobs prove. */
export const JOB_KINDS = ['circom', 'porep', 'window-post', 'winning-post', 'snap-deals'] as const;

/**
 * Most urgent first. A class starts before those after it; within a class, first come first served.
 */
export const PRIORITIES = ['critical', 'high', 'normal', 'low'] as const;
export type Priority = (typeof PRIORITIES)[number];

/** What a client asks for. Keys and payloads are what the service already holds, never paths. */
export type JobRequest = CircomRequest | FilecoinRequest;

export interface CircomRequest extends RequestOptions {
  readonly kind: 'circom';
  /** Name or SHA-256 of a stored key. */
  readonly key: string;
  /** SHA-256 of a stored payload: a `.wtns` file. */
  readonly payload: string;
}

export interface FilecoinRequest extends RequestOptions {
  readonly kind: FilecoinKind;
  /** Name or SHA-256 of a stored key. Absent: the stored key of the circuit. */
  readonly key?: string;
  /** SHA-256 of a stored payload: a statement file. */
  readonly statement: string;
  /**
   * SHA-256 of stored payloads. PoRep: the output of its first phase. WinningPoSt: one vanilla
   * proof. WindowPoSt: one a sector, in any order. SnapDeals: one a partition, by number.
   */
  readonly vanilla: readonly string[];
  /** Only this partition. Absent: all of them. */
  readonly partition?: number;
}

interface RequestOptions {
  /** Absent: the fastest backend that works here. */
  readonly backend?: BackendChoice;
  /** Default: as `PRIORITY_OF` says. */
  readonly priority?: Priority;
  /** When the job fails if it has no result yet. */
  readonly deadline?: Micros;
  /** Fail rather than take the proof of another backend than the chosen one. */
  readonly strict?: boolean;
  /** Requests with the same key and the same content are one job. */
  readonly idempotencyKey?: string;
  /** What the client calls the job, where the client's wire names jobs itself. */
  readonly label?: string;
}

/** Of a kind of job: a block or a deadline is lost without its proof. */
const PRIORITY_OF: Readonly<Record<JobRequest['kind'], Priority>> = {
  'winning-post': 'critical',
  'window-post': 'high',
  porep: 'normal',
  'snap-deals': 'normal',
  circom: 'normal',
};

/** 0 is the most urgent. */
export function rankOf({ kind, priority }: JobRequest): number {
  return PRIORITIES.indexOf(priority ?? PRIORITY_OF[kind]);
}

/** SHA-256 of all that a job reads. */
export function payloadsOf(request: JobRequest): readonly string[] {
  return request.kind === 'circom' ? [request.payload] : [request.statement, ...request.vanilla];
}

export interface Job {
  readonly id: string;
  /** Ascending in order of arrival, never used twice. */
  readonly sequence: number;
  readonly request: JobRequest;
  /** SHA-256 of the key file, found when the job was accepted. */
  readonly keyDigest: string;
  /** Proofs that it makes, where they are more than one. */
  readonly partitions?: number;
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
  /** The caller does not record its trace, and so neither do we. */
  readonly parentSampled?: false;
  /** In state `completed`. */
  readonly outcome?: ProveOutcome;
  /** In state `failed`. */
  readonly error?: ErrorRecord;
}

export function isSettled(state: JobState): boolean {
  return state !== 'queued' && state !== 'running';
}

/**
 * What two requests with one idempotency key must agree in. Hex.
 * @param key digest of the key that the request names; null where it names none
 */
export function fingerprint(request: JobRequest, key: string | null): string {
  const { kind, backend, strict } = request;
  const source =
    request.kind === 'circom'
      ? [request.payload]
      : [request.statement, request.vanilla, request.partition ?? null];
  const content = [kind, key, ...source, backend ?? null, strict ?? false];
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}
