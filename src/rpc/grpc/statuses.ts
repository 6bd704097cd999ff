import { ERRORS, type ErrorCode, type ProverError } from '../../core/errors.ts';
import { type AwaitProofResponse, PROOF_STATUS, STATUS } from './wire.ts';

/** The status of gRPC that is nearest to what HTTP would say. */
export function grpcCode({ code }: { readonly code: ErrorCode }): number {
  const { http } = ERRORS[code];
  if (http === 404) return STATUS.notFound;
  if (http === 409) return STATUS.failedPrecondition;
  if (http === 413 || http === 429) return STATUS.resourceExhausted;
  if (http === 500) return STATUS.internal;
  return http === 503 ? STATUS.unavailable : STATUS.invalidArgument;
}

/** The same request would fail again. */
export function isFinal(error: ProverError): boolean {
  return error.spec.retry === 'never' && error.spec.http !== 500;
}

export function failedProof(jobId: string, message: string): AwaitProofResponse {
  return { job_id: jobId, status: PROOF_STATUS.failed, error_message: message };
}
