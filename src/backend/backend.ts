import type { FileSlice } from '../core/source.ts';
import type { Micros } from '../core/units.ts';
import type { Blinding, Proof, ProvingKeySource } from '../groth16/types.ts';

/** Bumped on any breaking change; the registry refuses a backend that reports another number. */
export const BACKEND_API_VERSION = 1;

export type BackendName = 'cuda' | 'cpu' | 'cpu-reference' | 'webgpu';
export type DeviceId = string;

/**
 * Stages inside a call; the calls themselves are timed by the caller. A device reports its own
 * events' times.
 */
export type BackendStage =
  | 'SYNTH'
  | 'EVALUATE'
  | 'H2D'
  | 'NTT'
  | 'MSM_H'
  | 'MSM_L'
  | 'MSM_A'
  | 'MSM_B_G1'
  | 'MSM_B_G2';

export interface DeviceInfo {
  readonly id: DeviceId;
  /** Model, as the driver or the processor reports it. */
  readonly name: string;
  readonly memoryBytes: number;
}

export type BackendProbe =
  | { readonly available: true; readonly version: string; readonly devices: readonly DeviceInfo[] }
  | { readonly available: false; readonly reason: string };

export interface DeviceOptions {
  /** Threads the device may use on the host. */
  readonly threads: number;
  /** Memory of the device that may be used; absent: all that is free. */
  readonly memoryBytes?: number;
}

/** Peak bytes that loading a key and proving one batch need. */
export interface Estimate {
  readonly deviceBytes: number;
  readonly pinnedBytes: number;
  readonly hostBytes: number;
}

/** What a running call obeys and reports to. */
export interface Run {
  /**
   * Honoured at the next chunk border, within one second; the call then rejects with ERR_CANCELLED.
   */
  readonly signal: AbortSignal;
  /** Called once a stage has ended (also when it failed). */
  stage(name: BackendStage, start: Micros, end: Micros): void;
  /** Share of the running call that is done, 0 to 1. Optional to call; default none. */
  progress?(share: number): void;
}

/** `n` scalars of 32 bytes, canonical little-endian, in memory or in a file. */
export type ScalarVector =
  | { readonly n: number; readonly bytes: Uint8Array }
  | { readonly n: number; readonly slice: FileSlice };

/** A bit for each variable, bit i & 7 of byte i >> 3: 1 where the variable occurs in some row. */
export type Density = Uint8Array;

/**
 * One Groth16 instance, its values known: all of them, or those of the private inputs.
 */
export type PartitionInput = AssignedInput | ProgramInput;

/**
 * A circuit (docs/program-format.md) of BLS12-381 and its private inputs, in the order of
 * synthesis: 32 bytes each, canonical little-endian. `stage` computes the rest (SYNTH), and throws
 * ERR_WITNESS_UNSATISFIED naming the first constraint that does not hold.
 */
export interface ProgramInput {
  readonly kind: 'program';
  readonly program: Uint8Array;
  readonly privateInputs: Uint8Array;
}

/**
 * `witness`: every wire's value; A and B come from the key's own rows (zkey).
 * `evaluated`: every wire's value and, for each of the rows (input rows included), a_i = <A_i, w>
 *   and b_i = <B_i, w>; c = a∘b. The densities say which points a bellman key holds: A by auxiliary
 *   variable (inputs are all present), B by input and by auxiliary variable.
 */
export type AssignedInput =
  | { readonly kind: 'witness'; readonly witness: ScalarVector }
  | {
      readonly kind: 'evaluated';
      readonly witness: ScalarVector;
      readonly a: ScalarVector;
      readonly b: ScalarVector;
      readonly aAuxDensity: Density;
      readonly bInputDensity: Density;
      readonly bAuxDensity: Density;
    };

export interface LoadOptions {
  readonly residency: 'device' | 'pinned' | 'mapped';
  /** Check that every point is on its curve and in its group. Off only for a key checked before. */
  readonly checkPoints: boolean;
}

/** Opaque between the calls of one LoadedKey; released by `finish` or by disposal. */
export interface Staged extends AsyncDisposable {
  readonly __staged: true;
}
export interface Computed extends AsyncDisposable {
  readonly __computed: true;
}

export interface LoadedKey extends AsyncDisposable {
  /** Reads or computes, and uploads one partition. May overlap another's `compute`. */
  stage(input: PartitionInput, run: Run): Promise<Staged>;
  /** NTTs and MSMs. At most one at a time a device. Consumes `staged`. */
  compute(staged: Staged, blinding: Blinding, run: Run): Promise<Computed>;
  /** Host work that may overlap the next `compute`. Consumes `computed`. */
  finish(computed: Computed, run: Run): Promise<Proof>;
}

export interface Device extends AsyncDisposable {
  readonly info: DeviceInfo;
  /** Pure: the scheduler budgets with it. Residency: where there is a choice; default `device`. */
  estimate(key: ProvingKeySource, batch: number, residency?: LoadOptions['residency']): Estimate;
  /** @throws ERR_FORMAT for a point off its curve or outside its group, ERR_DEVICE_OUT_OF_MEMORY */
  load(key: ProvingKeySource, options: LoadOptions, run: Run): Promise<LoadedKey>;
}

/**
 * A prover. Equal key, input and blinding give equal proof bytes on every backend; randomness,
 * retries and scheduling stay outside.
 */
export interface ProverBackend {
  readonly apiVersion: number;
  readonly name: BackendName;
  /** What this machine offers, or why not. Never throws. */
  probe(): Promise<BackendProbe>;
  open(device: DeviceId, options: DeviceOptions): Promise<Device>;
}
