import type { BackendName } from '../backend/backend.ts';
import type { SnarkjsProof } from '../formats/snarkjs-json.ts';

export type BackendChoice = BackendName;

/** A verified proof and how it came about. */
export interface ProveOutcome {
  readonly proof: SnarkjsProof;
  /** Public inputs without the constant 1, decimal. */
  readonly public: readonly string[];
  /** SHA-256 of the key file. */
  readonly keyDigest: string;
  readonly backend: BackendName;
  readonly device: string;
  readonly attempts: number;
  /** Why another backend than the first choice made the proof. */
  readonly fallbackReason?: string;
  /** Always true: an unverified proof is never an outcome. */
  readonly verified: true;
}

/** snarkjs JSON as parsed, unchecked: the device host checks it. Either a stored key or a verification key. */
export interface VerifyRequest {
  readonly key?: string;
  readonly verificationKey?: unknown;
  readonly proof: unknown;
  readonly public: unknown;
}

export interface VerifyOutcome {
  readonly valid: boolean;
  /** Why it is not valid: `pairing equation does not hold`, `A is not in the group`, ... */
  readonly reason?: string;
}

export interface HostStatus {
  readonly backend: BackendName;
  readonly available: boolean;
  /** Why it is not available. */
  readonly reason?: string;
  readonly version?: string;
  readonly device?: string;
  readonly deviceName?: string;
  readonly memoryBytes?: number;
  readonly state: 'idle' | 'proving' | 'stopped';
  readonly jobId?: string;
  readonly busySinceMicros?: number;
  readonly restarts: number;
  readonly loadedKeys: readonly { readonly digest: string; readonly bytes: number }[];
}
