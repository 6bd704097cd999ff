import type { BackendName, BackendProbe } from '../backend/backend.ts';
import type { CircuitKind } from '../circuits/filecoin/circuits.ts';
import type { SectorSize } from '../circuits/filecoin/sector-size.ts';
import type { ErrorRecord } from '../core/errors.ts';
import type { Micros } from '../core/units.ts';
import type { SnarkjsProof, SnarkjsVerificationKey } from '../formats/snarkjs-json.ts';
import type { CurveName } from '../math/curve.ts';
import type { EventName, ProverEvent } from '../telemetry/events.ts';
import type { KeyPiece } from './key-pieces.ts';

/**
 * What the server and a device host say to each other, over the child's IPC channel. Requests carry
 * paths and small values; anything large crosses by file. Paths come from this machine's stores or
 * its command line.
 */
export interface HostOperations {
  probe: { params: Record<string, never>; result: readonly ProbedBackend[] };
  prove: { params: ProveParams; result: ProveResult };
  provePartition: { params: PartitionParams; result: PartitionResult };
  statement: { params: { readonly statement: StatementSource }; result: StatementFacts };
  verify: { params: VerifyParams; result: VerifyResult };
  setup: { params: SetupParams; result: SetupResult };
  vkey: { params: { readonly keyPath: string }; result: SnarkjsVerificationKey };
  inspect: { params: { readonly keyPath: string }; result: InspectedKey };
  benchProve: { params: BenchProveParams; result: BenchProveResult };
  benchParts: { params: BenchPartsParams; result: BenchPartsResult };
  benchSynthesis: { params: BenchSynthesisParams; result: BenchSynthesisResult };
  checkKey: { params: CheckKeyParams; result: Record<string, never> };
  digestKey: { params: DigestKeyParams; result: DigestKeyResult };
  loadKey: { params: LoadKeyParams; result: Record<string, never> };
  unloadKey: { params: { readonly keyDigest: string }; result: UnloadKeyResult };
}
export type Operation = keyof HostOperations;

export interface ProbedBackend {
  readonly name: BackendName;
  readonly probe: BackendProbe;
}

/** A `.wtns` file, or the circuit's wasm and an input for it. */
export type WitnessSource =
  | { readonly path: string; readonly sha256?: string }
  | { readonly wasmPath: string; readonly inputPath: string };

/** @property sha256 of the file, where it was stored under one */
export interface StoredFile {
  readonly path: string;
  readonly sha256?: string;
}

/** A statement file, or the JSON of one. */
export type StatementSource = StoredFile | { readonly value: object };

/** One partition of what a statement says, by its vanilla proofs. */
export interface PartitionSource {
  readonly statement: StatementSource;
  readonly vanilla: readonly StoredFile[];
  readonly partition: number;
}

export interface StatementFacts {
  readonly kind: CircuitKind;
  readonly sectorSize: SectorSize;
  /** Name of the proof type, as the chain registers it. */
  readonly registeredProof: string;
  readonly partitions: number;
  /** The chain takes its proofs aggregated only (PoRep that is not interactive). */
  readonly aggregates: boolean;
}

/** By whom, and with which key, a proof is made. */
export interface ProverChoice {
  readonly jobId: string;
  readonly backend: BackendName;
  readonly device: string;
  readonly threads: number;
  readonly keyPath: string;
  /** SHA-256 of the key when the caller knows it; else the host computes it. */
  readonly keyDigest?: string;
  /** The key's points were checked before; else they are at its first load. */
  readonly keyChecked?: boolean;
  /** Fail rather than take another backend's proof. */
  readonly strict?: boolean;
}

export interface PartitionParams extends ProverChoice {
  readonly source: PartitionSource;
  /** The partition that is asked for next: its vanilla proofs are read meanwhile. */
  readonly next?: number;
}

export interface ProveParams extends ProverChoice {
  readonly witness: WitnessSource;
  /** Constraints to check before proving, so that the first row that does not hold can be named. */
  readonly r1csPath?: string;
}

/** How a proof came about. */
export interface ProofOrigin {
  readonly keyDigest: string;
  readonly backend: BackendName;
  readonly device: string;
  /** Times a proof was computed: 1, or 2 when the first did not verify. */
  readonly attempts: number;
  readonly fallbackReason?: string;
  readonly verified: true;
}

export interface ProveResult extends ProofOrigin {
  readonly proof: SnarkjsProof;
  readonly public: readonly string[];
}

export interface PartitionResult extends ProofOrigin {
  /** 192 bytes as Filecoin writes them, hex. */
  readonly proof: string;
}

/** By public inputs, or by what the chain knows. */
export type VerifyParams = VerifyInputsParams | VerifyStatementParams;

export interface VerifyStatementParams {
  /** JSON as parsed, unchecked. */
  readonly statement: unknown;
  /** 192 bytes a partition, hex. */
  readonly proof: string;
  /** A `.vk` file, or the parameters. */
  readonly keyPath: string;
  /** The key's points were checked before. */
  readonly keyChecked?: boolean;
}

export interface VerifyInputsParams {
  /** Either a key file, whose verifying key is used, or snarkjs's JSON. */
  readonly keyPath?: string;
  readonly verificationKey?: unknown;
  readonly proof: unknown;
  readonly public: unknown;
}

export interface VerifyResult {
  readonly valid: boolean;
  readonly reason?: string;
}

/** One of Filecoin's circuits. */
export interface FilecoinCircuit {
  readonly kind: CircuitKind;
  readonly sectorSize: SectorSize;
}

export interface SetupParams {
  /** An `.r1cs` file, or a circuit of Filecoin, whose key is in bellman's format. */
  readonly circuit: { readonly r1csPath: string } | FilecoinCircuit;
  readonly format: 'zkey' | 'bellman';
  readonly outPath: string;
  /** Text from which the toxic waste is derived, for reproducible development keys. */
  readonly seed?: string;
}

export interface SetupResult {
  readonly path: string;
  readonly digest: string;
  readonly bytes: number;
  readonly constraints: number;
  readonly insecure: string;
  /** The `.vk` file beside the parameters of a circuit of Filecoin. */
  readonly verifyingKeyPath?: string;
}

export interface BenchProveParams {
  readonly backend: BackendName;
  readonly threads: number;
  readonly circuit:
    | { readonly kind: 'chain'; readonly curve: CurveName; readonly constraints: number }
    | { readonly kind: 'r1cs'; readonly r1csPath: string; readonly witnessPath: string };
  readonly runs: number;
  readonly against?: 'snarkjs';
  /** The best instructions the native backend may use; default: all that the processor has. */
  readonly instructionSet?: 'portable' | 'adx' | 'ifma';
}

/** Times are medians. */
export interface BenchProveResult {
  readonly curve: CurveName;
  readonly constraints: number;
  readonly logN: number;
  readonly backend: BackendName;
  readonly instructionSet: string | undefined;
  readonly threads: number;
  readonly cpu: string;
  readonly runs: number;
  readonly seconds: number;
  /** Peak anonymous memory of the process. */
  readonly peakBytes: number;
  readonly stages: Readonly<Record<string, number>>;
  readonly peer?: string;
  readonly peerSeconds?: number;
  readonly ratio?: number;
  readonly peerPeakBytes?: number;
}

export interface BenchPartsParams {
  readonly what: 'msm' | 'ntt';
  readonly curve: CurveName;
  /** Of an MSM; default G1. */
  readonly group?: 'G1' | 'G2';
  readonly logN: number;
  readonly threads: number;
  readonly runs: number;
  readonly against?: 'blst';
  readonly instructionSet?: 'portable' | 'adx' | 'ifma';
}

/** Times are medians. */
export interface BenchPartsResult {
  readonly what: 'msm' | 'ntt';
  readonly curve: CurveName;
  readonly group?: 'G1' | 'G2';
  readonly logN: number;
  readonly instructionSet: string;
  readonly threads: number;
  readonly cpu: string;
  readonly runs: number;
  readonly seconds: number;
  readonly peer?: string;
  readonly peerSeconds?: number;
  readonly ratio?: number;
}

export interface BenchSynthesisParams {
  /** A circuit, with private inputs that are made up, or a partition of a vanilla proof. */
  readonly of:
    | FilecoinCircuit
    | {
        readonly statementPath: string;
        readonly vanillaPaths: readonly string[];
        readonly partition: number;
      };
  /** Into elements of 32 bytes, instead of compact vectors. */
  readonly expanded: boolean;
  readonly threads: number;
  readonly runs: number;
}

export interface BenchSynthesisResult {
  readonly circuit: FilecoinCircuit;
  readonly constraints: number;
  readonly expanded: boolean;
  readonly threads: number;
  readonly cpu: string;
  readonly runs: number;
  /** Of one synthesis, the median, and of its parts. */
  readonly seconds: number;
  readonly parts: Readonly<Record<string, number>>;
  /** To lay the circuit out, and to read and check the vanilla proof. */
  readonly layoutSeconds: number;
  readonly vanillaSeconds: number;
  /** All three. */
  readonly wholeSeconds: number;
  /** Anonymous memory at most: from the first synthesis on, and from the beginning on. */
  readonly peakBytes: number;
  readonly wholePeakBytes: number;
}

export interface CheckKeyParams {
  readonly backend: BackendName;
  readonly device: string;
  readonly threads: number;
  readonly keyPath: string;
  readonly keyDigest: string;
}

/** A key to be loaded before a proof needs it. */
export interface LoadKeyParams extends CheckKeyParams {
  /** Its points were checked before. */
  readonly keyChecked?: boolean;
}

export interface UnloadKeyResult {
  /** Of the key file; 0 where it was not loaded. */
  readonly bytes: number;
}

export interface DigestKeyParams {
  readonly keyPath: string;
  /** Where its pieces end, ascending. */
  readonly ends: readonly number[];
}

export interface DigestKeyResult {
  /** SHA-256, hex. */
  readonly digest: string;
  /** CRC-32 of each piece. */
  readonly crcs: readonly number[];
}

export interface InspectedKey {
  /** SHA-256, hex. */
  readonly digest: string;
  /** First 16 bytes of BLAKE2b-512, hex. */
  readonly blake2b: string;
  /** The whole file, in order, each piece with its CRC-32. */
  readonly pieces: readonly (KeyPiece & { readonly crc32: number })[];
  /** Points of all queries. */
  readonly pointCount: number;
  readonly bytes: number;
  readonly format: 'zkey' | 'bellman';
  readonly curve: CurveName;
  readonly publicCount: number;
  readonly logN: number;
  readonly insecure?: string;
  /** What the key proves, where whoever made it says so. */
  readonly circuit?: string;
}

/** An event before the job that it belongs to is known to the listener. */
export type HostEvent = Omit<ProverEvent, 'jobId'> & { readonly event: EventName };

export type ToHost =
  | { readonly id: number; readonly operation: Operation; readonly params: unknown }
  | { readonly abort: number };

/** Sent once a host has started, and each second by one whose own thread is not stuck. */
export interface Beat {
  readonly beat: true;
}

/** A key that a host has loaded. */
export interface KeyResidency {
  /** That it is loaded for; a host loads one for another backend only to compare proofs. */
  readonly backend: BackendName;
  /** SHA-256 of the key file, hex. */
  readonly digest: string;
  /** Of the key file. */
  readonly bytes: number;
  readonly lastUsedMicros: Micros;
}

/** All keys that a host has loaded, sent at each use of one. */
export interface Residents {
  readonly residents: readonly KeyResidency[];
}

export type FromHost =
  | Beat
  | Residents
  | { readonly id: number; readonly event: HostEvent }
  | { readonly id: number; readonly progress: number }
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: ErrorRecord };
