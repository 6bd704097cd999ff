import { concatBytes } from '../../src/core/bytes.ts';
import type { WeightedSum } from '../../src/groth16/weighted-sum.ts';
import type { G1Bytes } from '../../src/math/curve.ts';
import { settled } from '../common/napi/native-call.ts';
import { loadAddon } from './addon.ts';

/** Sums by native code on `threads` threads; undefined where it is not built. */
export function nativeWeightedSum(threads: number): WeightedSum | undefined {
  const loaded = loadAddon();
  if (!('addon' in loaded)) return undefined;
  const { addon } = loaded;
  return async ({ curve, points, scalars, signal }) => {
    const pool = addon.openPool(threads);
    const [bases, factors] = [concatBytes(...points), concatBytes(...scalars)];
    const run = { signal, stage: () => {} };
    const sum = await settled(run, (listener) =>
      addon.weightedSum(pool, curve, bases, factors, listener),
    );
    return sum as G1Bytes;
  };
}
