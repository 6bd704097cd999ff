import type { ProverEvent } from '../telemetry/events.ts';
import type { Job, JobState } from './job.ts';

/** Where jobs are kept. Its methods are atomic; a durable store has written before it returns. */
export interface JobStore {
  insert(job: Job): void;
  /** @throws ERR_JOB_UNKNOWN */
  get(id: string): Job;
  /**
   * Applies `change` to a job that is in one of `from`, else changes nothing. @returns the job as
   * it is now
   */
  update(id: string, from: readonly JobState[], change: Partial<Omit<Job, 'id'>>): Job;
  appendEvent(event: ProverEvent): void;
  /** Events of one job in order of arrival. @throws ERR_JOB_UNKNOWN */
  events(id: string): readonly ProverEvent[];
  /** Newest first. */
  list(limit: number): readonly Job[];
  count(state: JobState): number;
}
