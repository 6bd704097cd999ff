import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { PartitionInput } from '../../../src/backend/backend.ts';
import type { Blinding } from '../../../src/groth16/types.ts';

/** A native object; freed by `release` or, at the latest, by the garbage collector. */
export interface Handle<Kind extends string> {
  readonly __native: Kind;
}
export type KeyHandle = Handle<'key'>;
export type StagedHandle = Handle<'staged'>;
export type ComputedHandle = Handle<'computed'>;

/** A call that runs on a thread of its own; it ends at the next chunk border after `abort`. */
export interface NativeCall<T> {
  /** Rejects with an error that carries `code` and `data` of src/core/errors.ts. */
  readonly done: Promise<T>;
  abort(): void;
}

/** A stage with its microseconds since the call began, or the progress of the call, 0 to 1. */
export type Listener = (stageOrShare: string | number, start: number, end: number) => void;

/** What key_calls.hpp exports from each prover's addon. */
export interface KeyCalls {
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
  release(handle: Handle<string>): void;
}

/**
 * Loads build/Release/`name`.node of the package around this file or bundle, or says why not: what
 * the build left in build/`reasonFile`, or else `hint`.
 */
export function loadNative<Addon>(
  name: string,
  reasonFile: string,
  hint: string,
): { readonly addon: Addon } | { readonly reason: string } {
  const root = packageRoot(dirname(fileURLToPath(import.meta.url)));
  const file = join(root, 'build/Release', `${name}.node`);
  if (!existsSync(file)) {
    const left = join(root, 'build', reasonFile);
    return { reason: `not built: ${existsSync(left) ? readFileSync(left, 'utf8').trim() : hint}` };
  }
  try {
    return { addon: createRequire(import.meta.url)(file) as Addon };
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
