import { setTimeout as sleep } from 'node:timers/promises';
import { fromErrorRecord, ProverError, toProverError } from '../../core/errors.ts';
import type { FilecoinRequest, Job } from '../../jobs/job.ts';
import type { JobService } from '../../jobs/service.ts';

/** Pause before a job is offered again that could not be taken. */
const OFFER_AGAIN_MS = 1000;

/**
 * The job of a request, for callers that must not be refused: while the queue or the disk is full,
 * they wait here. @throws what says that it can never be taken, and ERR_SHUTTING_DOWN
 */
export async function submitPatiently(
  jobs: JobService,
  request: FilecoinRequest,
  signal: AbortSignal,
): Promise<Job> {
  for (;;) {
    try {
      return await jobs.submit(request);
    } catch (thrown) {
      const { code } = toProverError(thrown);
      if (code !== 'ERR_QUEUE_FULL' && code !== 'ERR_STORAGE') throw thrown;
      await sleep(OFFER_AGAIN_MS, undefined, { signal });
    }
  }
}

/**
 * The job of a request, joined where one with this key waits, runs or has its proof. One that was
 * cancelled or has failed is no result: a new one takes its place.
 */
export async function submitJoining(
  jobs: JobService,
  request: FilecoinRequest,
  key: string,
): Promise<Job> {
  for (let attempt = 0; ; attempt++) {
    const job = await jobs.submit({ ...request, idempotencyKey: `${key}:${attempt}` });
    if (job.state !== 'failed' && job.state !== 'cancelled') return job;
  }
}

/** The proof of a job, of 192 bytes a partition. @throws its error; ERR_CANCELLED */
export async function proofOf(jobs: JobService, id: string, signal: AbortSignal): Promise<Buffer> {
  const { state, outcome, error } = await jobs.settled(id, signal);
  if (outcome !== undefined && 'kind' in outcome) return Buffer.from(outcome.proof, 'hex');
  if (error !== undefined) throw fromErrorRecord(error);
  signal.throwIfAborted();
  if (state === 'cancelled') throw new ProverError('ERR_CANCELLED', { jobId: id });
  throw new ProverError('ERR_SHUTTING_DOWN', {});
}
