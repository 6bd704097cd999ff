import type { Micros } from '../core/units.ts';
import type { ProverEvent } from '../telemetry/events.ts';
import type { Job, JobState } from './job.ts';

export type NewJob = Omit<Job, 'sequence' | 'state' | 'progress' | 'attempts' | 'crashes'>;
export type JobChange = Partial<Pick<Job, 'state' | 'endedAt' | 'outcome' | 'error'>>;

export interface JobQuery {
  readonly limit: number;
  readonly state?: JobState;
  /** Name or digest of the key, as it was asked for. */
  readonly key?: string;
  /** Only jobs that arrived before the one of this sequence number. */
  readonly before?: number;
  /** Only jobs submitted at this time or later. */
  readonly since?: Micros;
}

/** Where jobs are kept. Its methods are atomic and have written to disk before they return. */
export interface JobStore {
  /** Accepts a job. @param fingerprint of its content, kept with its idempotency key */
  insert(job: NewJob, fingerprint: string): Job;
  /** @throws ERR_JOB_UNKNOWN */
  get(id: string): Job;
  findByIdempotencyKey(
    key: string,
  ): { readonly job: Job; readonly fingerprint: string } | undefined;
  /**
   * Takes a queued job. @returns the job, with one attempt more; undefined where it is not queued
   */
  start(id: string, at: Micros): Job | undefined;
  /** Puts a running job back into the queue. */
  requeue(id: string): void;
  /** Counts a crash of the job's host. @returns how many there were */
  addCrash(id: string): number;
  /**
   * Settles an unsettled job, once. @param attempt only if this is still its attempt; undefined:
   * whatever its attempt. @returns whether it did
   */
  settle(id: string, attempt: number | undefined, change: JobChange): boolean;
  /** The events that a settled job had. */
  keepEvents(id: string, events: readonly ProverEvent[]): void;
  events(id: string): readonly ProverEvent[];
  /** Newest first. */
  list(query: JobQuery): readonly Job[];
  /** Jobs that wait or run, in order of arrival. */
  unsettled(): readonly Job[];
  count(state: JobState): number;
  /** When the job that has waited longest was submitted. */
  queuedSince(): Micros | undefined;
  needsPayload(sha256: string): boolean;
  /** Forgets settled jobs that ended before `time`, and all but the newest `kept` of them. */
  prune(kept: number, time: Micros): void;
  close(): void;
}
