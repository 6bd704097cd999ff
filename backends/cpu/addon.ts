import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PartitionInput } from '../../src/backend/backend.ts';
import type { Blinding, ProvingKeySource } from '../../src/groth16/types.ts';
import type { CurveName } from '../../src/math/curve.ts';
import type { PointForm } from '../../src/math/points.ts';

/** A native object; freed by `release` or, at the latest, by the garbage collector. */
export interface Handle<Kind extends string> {
  readonly __native: Kind;
}
export type PoolHandle = Handle<'pool'>;
export type KeyHandle = Handle<'key'>;
export type StagedHandle = Handle<'staged'>;
export type ComputedHandle = Handle<'computed'>;
export type TableHandle = Handle<'table'>;

/** A call that runs on a thread of its own; it ends at the next chunk border after `abort`. */
export interface NativeCall<T> {
  /** Rejects with an error that carries `code` and `data` of src/core/errors.ts. */
  readonly done: Promise<T>;
  abort(): void;
}

/** A stage with its microseconds since the call began, or the progress of the call, 0 to 1. */
export type Listener = (stageOrShare: string | number, start: number, end: number) => void;

export type InstructionSet = 'portable' | 'adx' | 'ifma';

/** What addon.cpp exports. Arguments of another kind than these throw a TypeError. */
export interface CpuAddon {
  openPool(threads: number): PoolHandle;
  load(
    pool: PoolHandle,
    key: ProvingKeySource,
    checkPoints: boolean,
    listener: Listener,
  ): NativeCall<KeyHandle>;
  stage(key: KeyHandle, input: PartitionInput, listener: Listener): NativeCall<StagedHandle>;
  /** Consumes `staged`. */
  compute(
    key: KeyHandle,
    staged: StagedHandle,
    blinding: Blinding,
    listener: Listener,
  ): NativeCall<ComputedHandle>;
  /** Consumes `computed`. Points are canonical big-endian. */
  finish(
    key: KeyHandle,
    computed: ComputedHandle,
    listener: Listener,
  ): NativeCall<{ readonly a: Uint8Array; readonly b: Uint8Array; readonly c: Uint8Array }>;
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
  release(handle: Handle<string>): void;
  instructionSet(): InstructionSet;
  /** The best path up to `limit` that the processor has, for every later call of the process. */
  limitInstructionSet(limit: InstructionSet): void;
}

export type LoadedAddon = { readonly addon: CpuAddon } | { readonly reason: string };

/** Loads build/Release/cpu.node of the package around this file or bundle, or says why not. */
export function loadAddon(): LoadedAddon {
  const root = packageRoot(dirname(fileURLToPath(import.meta.url)));
  const file = join(root, 'build/Release/cpu.node');
  if (!existsSync(file)) return { reason: `not built: ${whyNotBuilt(root)}` };
  try {
    return { addon: createRequire(import.meta.url)(file) as CpuAddon };
  } catch (cause) {
    return { reason: `cannot be loaded: ${(cause as Error).message}` };
  }
}

function packageRoot(folder: string): string {
  const parent = dirname(folder);
  return existsSync(join(folder, 'package.json')) || parent === folder
    ? folder
    : packageRoot(parent);
}

/** scripts/install-native.mjs leaves the reason there. */
function whyNotBuilt(root: string): string {
  const file = join(root, 'build/native-reason.txt');
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : 'run `npm run build:native`';
}
