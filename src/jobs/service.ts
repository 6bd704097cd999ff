import type { Job, JobRequest } from './job.ts';
import type { ProverEvent } from '../telemetry/events.ts';
import type { HostStatus, VerifyOutcome, VerifyRequest } from '../pipeline/pipeline.ts';

/** What the RPC room sees of jobs. */
export interface JobService {
  /**
   * Accepts a job and returns at once.
   * @throws ERR_KEY_UNKNOWN, ERR_PAYLOAD_UNKNOWN, ERR_BACKEND_UNAVAILABLE, ERR_QUEUE_FULL, ERR_SHUTTING_DOWN
   */
  submit(request: JobRequest, options?: { readonly traceparent?: string }): Promise<Job>;
  /** @throws ERR_JOB_UNKNOWN */
  get(id: string): Job;
  /** Newest first. */
  list(limit: number): readonly Job[];
  /** Resolves once the job is completed, failed or cancelled. Aborting stops the waiting, not the job. */
  settled(id: string, signal?: AbortSignal): Promise<Job>;
  /** Ends a queued or running job within a second; a settled one stays as it is. @throws ERR_JOB_UNKNOWN */
  cancel(id: string): Job;
  /** @throws ERR_JOB_UNKNOWN */
  events(id: string): readonly ProverEvent[];
  /** Runs in a device host, never in the server's process. @throws ERR_FORMAT, ERR_KEY_UNKNOWN */
  verify(request: VerifyRequest, signal?: AbortSignal): Promise<VerifyOutcome>;
  /** Backends, devices and what each does now. */
  hosts(): readonly HostStatus[];
}
