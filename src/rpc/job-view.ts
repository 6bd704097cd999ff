import type { z } from '@hono/zod-openapi';
import { type ErrorRecord, fromErrorRecord, ProverError } from '../core/errors.ts';
import { type Micros, nowMicros } from '../core/units.ts';
import type { Job } from '../jobs/job.ts';
import { timingsOf } from '../trace/timings.ts';
import type { Call, ServiceContext } from './context.ts';
import { publicError } from './errors.ts';
import type { JobSummary, JobView } from './schemas.ts';

export function jobSummary(job: Job, { eta }: ServiceContext): z.output<typeof JobSummary> {
  const { outcome, error } = job;
  const etaSeconds = eta.secondsLeft(job, nowMicros());
  return {
    job_id: job.id,
    kind: job.request.kind,
    state: job.state,
    progress: job.progress,
    ...(etaSeconds !== undefined && { eta_seconds: etaSeconds }),
    key: job.request.key ?? job.keyDigest,
    submitted_at: isoTime(job.submittedAt),
    ...(job.startedAt !== undefined && { started_at: isoTime(job.startedAt) }),
    ...(job.endedAt !== undefined && { ended_at: isoTime(job.endedAt) }),
    trace_id: job.traceId,
    ...(outcome && {
      key_digest: outcome.keyDigest,
      backend: outcome.backend,
      device: outcome.device,
      attempts: outcome.attempts,
      ...(outcome.fallbackReason !== undefined && { fallback_reason: outcome.fallbackReason }),
      verified: outcome.verified,
    }),
    ...(error && { error: publicError(jobError(job, error), `job ${job.id}`) }),
  };
}

/**
 * The job with its proof, if there is one. @throws ERR_JOB_UNKNOWN when it has just been forgotten
 */
export function jobView(job: Job, context: ServiceContext): z.output<typeof JobView> {
  const { outcome } = job;
  const { job_id, kind, ...summary } = jobSummary(job, context);
  const timings = outcome && { ...timingsOf(context.services.jobs.events(job.id)) };
  if (kind === 'circom') {
    if (outcome === undefined || 'kind' in outcome) return { job_id, kind, ...summary };
    const { proof, public: inputs } = outcome;
    return { job_id, kind, ...summary, proof, public: [...inputs], timings };
  }
  if (outcome === undefined || !('kind' in outcome)) return { job_id, kind, ...summary };
  return {
    ...{ job_id, kind },
    ...summary,
    registered_proof: outcome.registeredProof,
    proof: outcome.proof,
    partitions: outcome.partitions.map(({ fallbackReason, ...rest }) => ({
      ...rest,
      ...(fallbackReason !== undefined && { fallback_reason: fallbackReason }),
    })),
    ...(outcome.aggregated === false && { aggregated: false }),
    timings,
  };
}

/** @throws the job's own error, ERR_CANCELLED, or ERR_JOB_STATE while it has no result */
export function jobResult(job: Job, call: Call): z.output<typeof JobView> {
  switch (job.state) {
    case 'completed':
      return jobView(job, call);
    case 'failed':
      throw jobError(job, job.error ?? { code: 'ERR_INTERNAL', data: { reason: 'no reason' } });
    case 'cancelled':
      throw new ProverError('ERR_CANCELLED', { jobId: job.id });
    default:
      throw new ProverError('ERR_JOB_STATE', {
        jobId: job.id,
        expected: 'a completed job',
        actual: job.state,
      });
  }
}

function jobError(job: Job, record: ErrorRecord): ProverError {
  return fromErrorRecord({ code: record.code, data: { ...record.data, jobId: job.id } });
}

function isoTime(micros: Micros): string {
  return new Date(micros / 1000).toISOString();
}
