// Generated from openapi/openapi.json by `npm run generate`.

export type Job = CircomJob | FilecoinJob;

export interface Schemas {
  JsonRpcResponse?: JsonRpcResponse;
  Error?: Error;
  JsonRpcRequest?: JsonRpcRequest;
  Payload?: Payload;
  Job?: Job;
  CircomJob?: CircomJob;
  Proof?: Proof;
  FilecoinJob?: FilecoinJob;
  ProveForm?: ProveForm;
  ProveParams?: ProveParams;
  VerifyResult?: VerifyResult;
  VerifyParams?: VerifyParams;
  JobList?: JobList;
  JobSummary?: JobSummary;
  Timeline?: Timeline;
  KeyList?: KeyList;
  ServiceStatus?: ServiceStatus;
  LogLevel?: LogLevel;
}
export interface JsonRpcResponse {
  jsonrpc: '2.0';
  id: string | number | null;
  result?: unknown;
  error?: {
    code: number;
    message: string;
    data?: unknown;
  };
}
export interface Error {
  code:
    | 'ERR_PARAMS'
    | 'ERR_FORMAT'
    | 'ERR_FILE'
    | 'ERR_KEY_UNKNOWN'
    | 'ERR_KEY_DAMAGED'
    | 'ERR_PAYLOAD_UNKNOWN'
    | 'ERR_PAYLOAD_CORRUPT'
    | 'ERR_IDEMPOTENCY'
    | 'ERR_DEADLINE'
    | 'ERR_QUARANTINED'
    | 'ERR_STORE'
    | 'ERR_STORAGE'
    | 'ERR_TOO_LARGE'
    | 'ERR_JOB_UNKNOWN'
    | 'ERR_JOB_STATE'
    | 'ERR_FORBIDDEN'
    | 'ERR_UNAUTHORIZED'
    | 'ERR_SCOPE'
    | 'ERR_RATE_LIMITED'
    | 'ERR_MEDIA_TYPE'
    | 'ERR_ROUTE_UNKNOWN'
    | 'ERR_WITNESS_UNSATISFIED'
    | 'ERR_CONSTRAINT_UNSATISFIED'
    | 'ERR_WITNESS_CALCULATION'
    | 'ERR_DEVICE_OUT_OF_MEMORY'
    | 'ERR_BACKEND_UNAVAILABLE'
    | 'ERR_BACKEND_FAULT'
    | 'ERR_HOST_CRASHED'
    | 'ERR_CANCELLED'
    | 'ERR_QUEUE_FULL'
    | 'ERR_SHUTTING_DOWN'
    | 'ERR_LISTEN'
    | 'ERR_UNREACHABLE'
    | 'ERR_INTERNAL';
  message: string;
  retry: 'never' | 'later' | 'other-backend';
  data: {
    [k: string]: string | number;
  };
}
export interface JsonRpcRequest {
  jsonrpc: '2.0';
  /**
   * Absent: a notification, which is not answered
   */
  id?: string | number | null;
  method: string;
  params?: {
    [k: string]: unknown;
  };
}
export interface Payload {
  /**
   * SHA-256 of an uploaded payload
   */
  sha256: string;
  bytes: number;
}
export interface CircomJob {
  /**
   * Id of a job
   */
  job_id: string;
  state: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';
  /**
   * Share done
   */
  progress: number;
  /**
   * Time left, from jobs like it; in state running
   */
  eta_seconds?: number;
  /**
   * As it was asked for; where none was, the digest of the one that fits
   */
  key: string;
  submitted_at: string;
  started_at?: string;
  ended_at?: string;
  /**
   * W3C trace id
   */
  trace_id: string;
  /**
   * SHA-256 of the key file
   */
  key_digest?: string;
  /**
   * Backend that made the proof
   */
  backend?: 'cuda' | 'cpu' | 'cpu-reference' | 'webgpu';
  device?: string;
  /**
   * Times a proof was computed
   */
  attempts?: number;
  /**
   * Why not the first choice of backend
   */
  fallback_reason?: string;
  /**
   * Always true: nothing else is returned
   */
  verified?: true;
  error?: Error & {
    [k: string]: unknown;
  };
  kind: 'circom';
  proof?: Proof;
  /**
   * Public inputs, decimal
   */
  public?: string[];
  /**
   * Milliseconds: total_ms, and <stage>_ms for each stage that ended
   */
  timings?: {
    [k: string]: number;
  };
}
/**
 * In state completed
 */
export interface Proof {
  /**
   * @minItems 3
   * @maxItems 3
   */
  pi_a: [string, string, string];
  /**
   * @minItems 3
   * @maxItems 3
   */
  pi_b: [[string, string], [string, string], [string, string]];
  /**
   * @minItems 3
   * @maxItems 3
   */
  pi_c: [string, string, string];
  protocol: 'groth16';
  curve: 'bn128' | 'bls12381';
}
export interface FilecoinJob {
  /**
   * Id of a job
   */
  job_id: string;
  state: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';
  /**
   * Share done
   */
  progress: number;
  /**
   * Time left, from jobs like it; in state running
   */
  eta_seconds?: number;
  /**
   * As it was asked for; where none was, the digest of the one that fits
   */
  key: string;
  submitted_at: string;
  started_at?: string;
  ended_at?: string;
  /**
   * W3C trace id
   */
  trace_id: string;
  /**
   * SHA-256 of the key file
   */
  key_digest?: string;
  /**
   * Backend that made the proof
   */
  backend?: 'cuda' | 'cpu' | 'cpu-reference' | 'webgpu';
  device?: string;
  /**
   * Times a proof was computed
   */
  attempts?: number;
  /**
   * Why not the first choice of backend
   */
  fallback_reason?: string;
  /**
   * Always true: nothing else is returned
   */
  verified?: true;
  error?: Error & {
    [k: string]: unknown;
  };
  kind: 'porep' | 'window-post' | 'winning-post' | 'snap-deals';
  /**
   * Name of the proof's type on the chain
   */
  registered_proof?: string;
  /**
   * 192 bytes for each partition, in their order; hex
   */
  proof?: string;
  /**
   * How the proof of each came about
   */
  partitions?: {
    partition: number;
    /**
     * Backend that makes the proof
     */
    backend: 'cuda' | 'cpu' | 'cpu-reference' | 'webgpu';
    device: string;
    attempts: number;
    fallback_reason?: string;
  }[];
  /**
   * For a PoRep that is not interactive: the chain takes its proofs aggregated only
   */
  aggregated?: false;
  /**
   * Milliseconds: total_ms, and <stage>_ms for each stage that ended
   */
  timings?: {
    [k: string]: number;
  };
}
export interface ProveForm {
  /**
   * Default: circom
   */
  kind?: 'circom' | 'porep' | 'window-post' | 'winning-post' | 'snap-deals';
  /**
   * Name or SHA-256 of a stored key
   */
  key?: string;
  /**
   * circom: a .wtns file
   */
  witness?: string;
  /**
   * A statement file, JSON
   */
  statement?: string;
  /**
   * Vanilla proofs, a part each
   */
  vanilla?: string[];
  /**
   * porep, instead of a statement: whose sector; the rest is read from the vanilla proof
   */
  miner?: string;
  sector_number?: string;
  partition?: string;
  /**
   * Backend that makes the proof
   */
  backend?: 'cuda' | 'cpu' | 'cpu-reference' | 'webgpu';
  /**
   * A class starts before those after it; default: critical for winning-post, high for window-post, else normal
   */
  priority?: 'critical' | 'high' | 'normal' | 'low';
  /**
   * The job fails if it has no result by then
   */
  deadline?: string;
  /**
   * Requests with one key and one content are one job; another content is refused
   */
  idempotency_key?: string;
  strict?: 'true' | 'false';
  wait?: 'true' | 'false';
}
export interface ProveParams {
  /**
   * What is proved: a circom witness, or a proof of Filecoin
   */
  kind: 'circom' | 'porep' | 'window-post' | 'winning-post' | 'snap-deals';
  /**
   * Name or SHA-256 of a stored key. Needed for circom; else the stored key that fits
   */
  key?: string;
  /**
   * circom: the witness (.wtns)
   */
  payload?:
    | {
        /**
         * SHA-256 of an uploaded payload
         */
        sha256: string;
      }
    | {
        base64: string;
      };
  /**
   * What is proved, in the terms of the chain, or the digest of an upload that says so
   */
  statement?:
    | {
        /**
         * SHA-256 of an uploaded payload
         */
        sha256: string;
      }
    | {
        [k: string]: unknown;
      };
  /**
   * porep, instead of a statement: whose sector; the rest is read from the vanilla proof
   */
  miner?: string;
  /**
   * porep, instead of a statement; may be missing where the vanilla proof says it (SectorNum)
   */
  sector_number?: number | string;
  /**
   * Vanilla proofs. porep: the output of its first phase; winning-post: one; window-post: one a sector, in any order; snap-deals: one a partition, in their order
   *
   * @minItems 1
   * @maxItems 10000
   */
  vanilla?: [
    (
      | {
          /**
           * SHA-256 of an uploaded payload
           */
          sha256: string;
        }
      | {
          base64: string;
        }
    ),
    ...(
      | {
          /**
           * SHA-256 of an uploaded payload
           */
          sha256: string;
        }
      | {
          base64: string;
        }
    )[]
  ];
  /**
   * Prove this partition only; default: all of them
   */
  partition?: number;
  /**
   * Default: the fastest that works here
   */
  backend?: 'cuda' | 'cpu' | 'cpu-reference' | 'webgpu';
  /**
   * A class starts before those after it; default: critical for winning-post, high for window-post, else normal
   */
  priority?: 'critical' | 'high' | 'normal' | 'low';
  /**
   * The job fails if it has no result by then
   */
  deadline?: string;
  /**
   * Fail rather than take the proof of another backend
   */
  strict?: boolean;
  /**
   * Requests with one key and one content are one job; another content is refused
   */
  idempotency_key?: string;
  /**
   * Answer with the result instead of the job
   */
  wait?: boolean;
}
export interface VerifyResult {
  valid: boolean;
  /**
   * Why it is not valid
   */
  reason?: string;
}
export interface VerifyParams {
  /**
   * Name or SHA-256 of a stored key
   */
  key?: string;
  /**
   * snarkjs's verification key, instead of a stored key
   */
  verification_key?: {
    [k: string]: unknown;
  };
  /**
   * Proof in snarkjs's form or, of a statement, hex of 192 bytes for each partition
   */
  proof:
    | {
        [k: string]: unknown;
      }
    | string;
  /**
   * Public inputs, decimal
   *
   * @maxItems 65536
   */
  public?: string[];
  /**
   * What a proof of Filecoin proves, instead of public inputs; default key: the one that fits
   */
  statement?: {
    [k: string]: unknown;
  };
}
export interface JobList {
  jobs: JobSummary[];
  /**
   * There may be older jobs: ask for them by this
   */
  next_cursor?: string;
}
export interface JobSummary {
  /**
   * Id of a job
   */
  job_id: string;
  state: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';
  /**
   * Share done
   */
  progress: number;
  /**
   * Time left, from jobs like it; in state running
   */
  eta_seconds?: number;
  /**
   * As it was asked for; where none was, the digest of the one that fits
   */
  key: string;
  submitted_at: string;
  started_at?: string;
  ended_at?: string;
  /**
   * W3C trace id
   */
  trace_id: string;
  /**
   * SHA-256 of the key file
   */
  key_digest?: string;
  /**
   * Backend that made the proof
   */
  backend?: 'cuda' | 'cpu' | 'cpu-reference' | 'webgpu';
  device?: string;
  /**
   * Times a proof was computed
   */
  attempts?: number;
  /**
   * Why not the first choice of backend
   */
  fallback_reason?: string;
  /**
   * Always true: nothing else is returned
   */
  verified?: true;
  error?: Error & {
    [k: string]: unknown;
  };
  kind: 'circom' | 'porep' | 'window-post' | 'winning-post' | 'snap-deals';
}
export interface Timeline {
  /**
   * Id of a job
   */
  job_id: string;
  started_at: string | null;
  total_ms: number;
  running: boolean;
  /**
   * Each stage is followed by those inside it
   */
  stages: {
    stage:
      | 'JOB'
      | 'QUEUE'
      | 'HOST_BOOT'
      | 'SRS_LOAD'
      | 'VANILLA'
      | 'LAYOUT'
      | 'SYNTH'
      | 'STAGE'
      | 'EVALUATE'
      | 'H2D'
      | 'GPU'
      | 'NTT'
      | 'MSM_H'
      | 'MSM_L'
      | 'MSM_A'
      | 'MSM_B_G1'
      | 'MSM_B_G2'
      | 'FINISH'
      | 'VERIFY'
      | 'STORE'
      | 'RECHECK';
    lane: 'service' | 'host' | 'device';
    depth: number;
    /**
     * Index of the stage around it
     */
    parent: number | null;
    partition?: number;
    worker?: number;
    device?: string;
    start_ms: number;
    end_ms: number | null;
    ms: number;
    /**
     * Of the job's time, 0 to 1
     */
    share: number;
    error?: string;
    unfinished?: true;
  }[];
  /**
   * TIMELINE,<ms since the first event>,<event>,<job_id>,<detail>, as cuzk prints them
   */
  lines: string[];
}
export interface KeyList {
  keys: {
    /**
     * Name or SHA-256 of a stored key
     */
    name: string;
    /**
     * SHA-256 of the key file
     */
    digest: string;
    format: 'zkey' | 'bellman';
    curve: 'bn254' | 'bls12-381';
    bytes: number;
    /**
     * Public inputs, without the constant 1
     */
    public_count: number;
    /**
     * The evaluation domain has 2^log_n rows
     */
    log_n: number;
    /**
     * What it proves, where that is known
     */
    circuit?: string;
    /**
     * Its points lie on their curve and in their group
     */
    group_checked: boolean;
    /**
     * Why it must not be used in production
     */
    insecure?: string;
    /**
     * What is wrong with its file; it is refused
     */
    damage?: string;
  }[];
}
export interface ServiceStatus {
  version: string;
  uptime_secs: number;
  ready: boolean;
  /**
   * Why it is not ready
   */
  reason?: string;
  /**
   * Of the machine, or of the limit that the service runs under
   */
  memory: {
    total_bytes: number;
    used_bytes: number;
    available_bytes: number;
  };
  synthesis: {
    max_concurrent: number;
    active: number;
  };
  /**
   * Jobs that run
   */
  pipelines: {
    /**
     * Id of a job
     */
    job_id: string;
    proof_kind: 'circom' | 'porep' | 'window-post' | 'winning-post' | 'snap-deals';
    started_secs_ago: number;
    total_partitions: number;
    partitions_done: number;
    partitions: {
      index: number;
      state: 'pending' | 'synthesizing' | 'synth_done' | 'gpu' | 'done' | 'failed';
      synth_ms: number | null;
      gpu_ms: number | null;
    }[];
  }[];
  /**
   * Devices that prove, whatever their kind
   */
  gpu_workers: {
    worker_id: number;
    gpu_ordinal: number;
    state: 'idle' | 'proving';
    /**
     * Id of a job
     */
    current_job: string | null;
    current_partition: number | null;
    busy_secs: number | null;
    /**
     * Backend that makes the proof
     */
    backend: 'cuda' | 'cpu' | 'cpu-reference' | 'webgpu';
  }[];
  /**
   * Keys that device hosts have loaded, by SHA-256
   */
  allocations: {
    srs: {
      circuit_id: string;
      bytes: number;
      last_used_secs_ago: number;
      evictable: boolean;
    }[];
    pce: {
      circuit_id: string;
      bytes: number;
      last_used_secs_ago: number;
      evictable: boolean;
    }[];
  };
  /**
   * Since the start of the service
   */
  counters: {
    total_completed: number;
    total_failed: number;
    completed_by_kind: {
      [k: string]: number;
    };
    failed_by_kind: {
      [k: string]: number;
    };
    queue_depth: number;
  };
  buffers: {
    synth_in_flight: number;
    provers_in_flight: number;
    aux_in_flight: number;
    shells_in_flight: number;
    pending_handles: number;
  };
  backends: {
    /**
     * Backend that makes the proof
     */
    backend: 'cuda' | 'cpu' | 'cpu-reference' | 'webgpu';
    available: boolean;
    /**
     * Why it is not available
     */
    reason?: string;
    version?: string;
    /**
     * Its number within the backend
     */
    device?: string;
    device_name?: string;
    memory_bytes?: number;
    state: 'idle' | 'proving' | 'unavailable';
    /**
     * Id of a job
     */
    job_id?: string;
    restarts: number;
  }[];
}
export interface LogLevel {
  level: 'error' | 'warn' | 'info' | 'debug' | 'silent';
}
