import type { Density } from '../../src/backend/backend.ts';
import type { SetupScalars } from '../../src/groth16/setup-scalars.ts';
import type { ProvingKeySource } from '../../src/groth16/types.ts';
import type { CurveName } from '../../src/math/curve.ts';
import type { PointForm } from '../../src/math/points.ts';
import {
  type Handle,
  type KeyCalls,
  type KeyHandle,
  type Listener,
  loadNative,
  type NativeCall,
} from '../common/napi/native.ts';

export type PoolHandle = Handle<'pool'>;
export type TableHandle = Handle<'table'>;
export type PoseidonHandle = Handle<'poseidon'>;

/** What a program and its private inputs come to. */
export interface Synthesis {
  /**
   * Compact vectors (docs/program-format.md): all inputs, then all aux variables; <A_i, w> and so
   * on of each row, the input rows last.
   */
  readonly witness: Uint8Array;
  readonly a: Uint8Array;
  readonly b: Uint8Array;
  readonly c: Uint8Array | undefined;
  readonly aAuxDensity: Density;
  readonly bInputDensity: Density;
  readonly bAuxDensity: Density;
  /** The first constraint that does not hold. */
  readonly failed: FailedConstraint | undefined;
}

/** Of a program's reading, its values, their final form, and which variables occur. */
export interface SynthesisSeconds {
  readonly open: number;
  readonly compute: number;
  readonly output: number;
  readonly densities: number;
}

/** As src/r1cs/program-witness.ts has it. */
export interface FailedConstraint {
  readonly index: number;
  readonly path: readonly string[];
  readonly template: string;
  readonly row: number;
  readonly aux: number | undefined;
}

export type InstructionSet = 'portable' | 'adx' | 'ifma';

/** What addon.cpp exports. Arguments of another kind than these throw a TypeError. */
export interface CpuAddon extends KeyCalls {
  openPool(threads: number): PoolHandle;
  load(
    pool: PoolHandle,
    key: ProvingKeySource,
    checkPoints: boolean,
    listener: Listener,
  ): NativeCall<KeyHandle>;
  /** @param keepC whether the values of C are wanted too */
  synthesize(
    pool: PoolHandle,
    program: Uint8Array,
    privateInputs: Uint8Array,
    keepC: boolean,
    listener: Listener,
  ): NativeCall<Synthesis>;
  /** Multiples of the group's generator; `count` is how many will be asked for, about. */
  openTable(
    pool: PoolHandle,
    curve: CurveName,
    group: 'G1' | 'G2',
    count: number,
    listener: Listener,
  ): NativeCall<TableHandle>;
  /** @param scalars 32 bytes each, little-endian, any value */
  multiples(
    table: TableHandle,
    scalars: Uint8Array,
    form: PointForm,
    listener: Listener,
  ): NativeCall<Uint8Array>;
  /**
   * Σ scalars[i]·points[i] in G1, in canonical bytes as the points (all zero: infinity).
   * @param scalars 32 bytes each, little-endian, below r
   */
  weightedSum(
    pool: PoolHandle,
    curve: CurveName,
    points: Uint8Array,
    scalars: Uint8Array,
    listener: Listener,
  ): NativeCall<Uint8Array>;
  /**
   * As src/math/poseidon.ts: 32 bytes an element, little-endian, below r; matrices row by row, of
   * each sparse one its first column, then the rest of its first row.
   */
  openPoseidon(
    width: number,
    roundKeys: Uint8Array,
    mds: Uint8Array,
    preSparse: Uint8Array,
    sparse: Uint8Array,
  ): PoseidonHandle;
  /** On the calling thread, in some 20 µs. @param state tag and preimage, below r */
  poseidon(hash: PoseidonHandle, state: readonly bigint[]): bigint;
  /** @param waste alpha, beta, gamma, delta and tau, 32 bytes each, little-endian, below r */
  setupScalars(
    pool: PoolHandle,
    program: Uint8Array,
    waste: Uint8Array,
    listener: Listener,
  ): NativeCall<SetupScalars>;
  /** Seconds of each run; the result is checked first. Rejects with ERR_INTERNAL if it is wrong. */
  benchMsm(
    pool: PoolHandle,
    curve: CurveName,
    group: 'G1' | 'G2',
    logN: number,
    runs: number,
    listener: Listener,
  ): NativeCall<readonly number[]>;
  benchNtt(
    pool: PoolHandle,
    curve: CurveName,
    logN: number,
    runs: number,
    listener: Listener,
  ): NativeCall<readonly number[]>;
  /** @param expanded into canonical elements of 32 bytes, instead of compact vectors */
  benchSynthesis(
    pool: PoolHandle,
    program: Uint8Array,
    privateInputs: Uint8Array,
    expanded: boolean,
    listener: Listener,
  ): NativeCall<SynthesisSeconds>;
  instructionSet(): InstructionSet;
  /** The best path up to `limit` that the processor has, for every later call of the process. */
  limitInstructionSet(limit: InstructionSet): void;
}

export type LoadedAddon = { readonly addon: CpuAddon } | { readonly reason: string };

export function loadAddon(): LoadedAddon {
  return loadNative('cpu', 'native-reason.txt', 'run `npm run build:native`');
}
