import type { GeneratorMultiples, MultiplesOf } from '../../src/groth16/multiples.ts';
import type { Listener } from '../common/napi/native.ts';
import { settled } from '../common/napi/native-call.ts';
import { type CpuAddon, loadAddon } from './addon.ts';

const CHUNK = 16_384;

/** Multiples of generators by native code on `threads` threads; undefined where it is not built. */
export function nativeMultiples(threads: number): MultiplesOf | undefined {
  const loaded = loadAddon();
  return 'addon' in loaded ? (wanted) => multiplesBy(loaded.addon, threads, wanted) : undefined;
}

async function multiplesBy(
  addon: CpuAddon,
  threads: number,
  { curve, group, count, signal }: Parameters<MultiplesOf>[0],
): Promise<GeneratorMultiples> {
  const run = { signal, stage: () => {} };
  const pool = addon.openPool(threads);
  const open = (listener: Listener) => addon.openTable(pool, curve, group, count, listener);
  const table = await settled(run, open);
  return {
    chunk: CHUNK,
    encode(scalars, form) {
      return settled(run, (listener) => addon.multiples(table, scalars, form, listener));
    },
  };
}
