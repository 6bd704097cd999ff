import type { FilecoinRequest, Priority } from '../../jobs/job.ts';
import type { PartialPayload } from '../../jobs/payloads.ts';

/** Of a message either way, as Curio's client has it. */
export const MESSAGE_BYTES_MAX = 256 * 2 ** 20;

/** `SubmitProofRequest` as it arrives: whole numbers of 64 bits are decimal text. */
export interface SubmitProofRequest {
  readonly request_id: string;
  readonly proof_kind: number;
  readonly registered_proof: string;
  readonly priority: number;
  /** Dropped once it is stored: the message stays with the call. */
  vanilla_proof: Uint8Array;
  vanilla_proofs: readonly Uint8Array[];
  readonly sector_number: string;
  readonly miner_id: string;
  readonly randomness: Uint8Array;
  readonly partition_index: number;
  readonly comm_r_old: Uint8Array;
  readonly comm_r_new: Uint8Array;
  readonly comm_d_new: Uint8Array;
}

/** The same once its large parts are in files, which the payload store has yet to take. */
export interface StoredSubmit {
  readonly requestId: string;
  readonly kind: FilecoinRequest['kind'];
  readonly priority?: Priority;
  readonly statement: PartialPayload;
  readonly vanilla: readonly PartialPayload[];
}

export const PROOF_STATUS = { completed: 1, failed: 2, cancelled: 3, timeout: 4 } as const;

export interface AwaitProofResponse {
  readonly job_id: string;
  readonly status: number;
  readonly proof?: Uint8Array;
  readonly error_message?: string;
  readonly queue_wait_ms?: number;
  readonly srs_load_ms?: number;
  readonly synthesis_ms?: number;
  readonly gpu_compute_ms?: number;
  readonly total_ms?: number;
}

export interface GetStatusResponse {
  readonly gpus: readonly {
    readonly ordinal: number;
    readonly name: string;
    readonly vram_total_bytes: number;
    readonly vram_free_bytes: number;
    readonly current_job_id: string;
    readonly current_proof_kind: string;
  }[];
  readonly loaded_srs: readonly {
    readonly circuit_id: string;
    readonly tier: number;
    readonly size_bytes: number;
    readonly ref_count: number;
  }[];
  readonly queues: readonly {
    readonly proof_kind: string;
    readonly pending: number;
    readonly in_progress: number;
  }[];
  readonly total_proofs_completed: number;
  readonly total_proofs_failed: number;
  readonly uptime_seconds: number;
  readonly pinned_memory_bytes: number;
  readonly pinned_memory_limit_bytes: number;
}

/** Each method, after the messages' large parts have been stored. */
export interface EngineMethods {
  SubmitProof: {
    request: StoredSubmit;
    response: { readonly job_id: string; readonly queue_position: number };
  };
  AwaitProof: {
    request: { readonly job_id: string; readonly timeout_ms: string };
    response: AwaitProofResponse;
  };
  Prove: { request: StoredSubmit; response: { readonly result: AwaitProofResponse } };
  CancelProof: {
    request: { readonly job_id: string };
    response: { readonly was_running: boolean };
  };
  GetStatus: { request: object; response: GetStatusResponse };
  GetMetrics: { request: object; response: { readonly prometheus_text: string } };
  PreloadSRS: {
    request: { readonly circuit_id: string };
    response: { readonly already_loaded: boolean; readonly load_time_ms: number };
  };
  EvictSRS: {
    request: { readonly circuit_id: string };
    response: { readonly was_loaded: boolean; readonly freed_bytes: number };
  };
}
export type MethodName = keyof EngineMethods;

/** A status of gRPC that is not OK. https://grpc.io/docs/guides/status-codes/ */
export const STATUS = {
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  resourceExhausted: 8,
  failedPrecondition: 9,
  internal: 13,
  unavailable: 14,
} as const;

export class GrpcError extends Error {
  override readonly name = 'GrpcError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** From the thread that speaks gRPC to the one that serves. */
export type FromWire =
  | { readonly listening: string }
  | { readonly failed: string }
  | { readonly closed: true }
  | { readonly id: number; readonly method: MethodName; readonly request: unknown }
  /** Nobody waits for the answer any more. */
  | { readonly gone: number };

export type ToWire =
  | { readonly id: number; readonly response: unknown }
  | { readonly id: number; readonly code: number; readonly message: string }
  /** Takes no new calls, and ends those that last longer than this. */
  | { readonly closeWithinMs: number };
