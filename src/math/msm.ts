import { pippenger } from '@noble/curves/abstract/curve.js';
import type { WeierstrassPoint } from '@noble/curves/abstract/weierstrass.js';
import { assert } from '../core/assert.ts';
import type { Pacer } from './pacer.ts';
import type { PointGroup } from './points.ts';

/** Points in one call of Pippenger's method: 0.1 s in G1 and 0.25 s in G2 between pauses. */
const CHUNK = { G1: 256, G2: 128 } as const;

/**
 * Σ scalars[i]·points[i] over the scalars below r. Terms whose scalar or point is zero are skipped.
 * @param progress called after each chunk with the share of the points that is done
 */
export async function msm<T, B extends Uint8Array>(
  group: PointGroup<T, B>,
  points: readonly WeierstrassPoint<T>[],
  scalars: readonly bigint[],
  pacer: Pacer,
  progress: (share: number) => void = () => {},
): Promise<WeierstrassPoint<T>> {
  assert(points.length === scalars.length, 'msm: expected as many scalars as points');
  const size = CHUNK[group.name];
  let sum = group.Point.ZERO;
  for (let start = 0; start < points.length; start += size) {
    const chunkPoints: WeierstrassPoint<T>[] = [];
    const chunkScalars: bigint[] = [];
    for (let i = start; i < Math.min(start + size, points.length); i++) {
      const point = points[i] as WeierstrassPoint<T>;
      const scalar = scalars[i] as bigint;
      if (scalar === 0n || point.is0()) continue;
      chunkPoints.push(point);
      chunkScalars.push(scalar);
    }
    sum = sum.add(pippenger(group.Point, chunkPoints, chunkScalars));
    progress(Math.min(1, (start + size) / points.length));
    if (pacer.due) await pacer.pause();
  }
  return sum;
}
