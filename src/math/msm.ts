import { pippenger } from '@noble/curves/abstract/curve.js';
import type { WeierstrassPoint } from '@noble/curves/abstract/weierstrass.js';
import { assert } from '../core/assert.ts';
import type { Pacer } from './pacer.ts';
import type { PointGroup } from './points.ts';

/** Scalars below 2^this are summed by themselves, in as few windows as they have. */
const SMALL_BITS = 32;
/** Of the small ones: windows of this many bits. */
const WINDOW_BITS = 11;
/** Additions between two looks at the clock: a few milliseconds. */
const ADDITIONS_A_LOOK = 256;

/** Points in one call of Pippenger's method: 0.1 s in G1 and 0.25 s in G2 between pauses. */
const CHUNK = { G1: 256, G2: 128 } as const;

/**
 * Σ scalars[i]·points[i] for scalars below r of which most are small, as public inputs are.
 */
export async function msmOfSmall<T, B extends Uint8Array>(
  group: PointGroup<T, B>,
  points: readonly WeierstrassPoint<T>[],
  scalars: readonly bigint[],
  pacer: Pacer,
): Promise<WeierstrassPoint<T>> {
  const large = scalars.map((scalar) => (scalar >> BigInt(SMALL_BITS) === 0n ? 0n : scalar));
  let sum = group.Point.ZERO;
  for (let bit = SMALL_BITS - (SMALL_BITS % WINDOW_BITS); bit >= 0; bit -= WINDOW_BITS) {
    for (let i = 0; i < WINDOW_BITS; i++) sum = sum.double();
    const digits = scalars.map((scalar, i) =>
      large[i] === 0n ? Number(scalar >> BigInt(bit)) % 2 ** WINDOW_BITS : 0,
    );
    sum = sum.add(await windowSum(group, points, digits, pacer));
  }
  return sum.add(await msm(group, points, large, pacer));
}

/** Σ digits[i]·points[i], by a bucket for each digit. */
async function windowSum<T, B extends Uint8Array>(
  group: PointGroup<T, B>,
  points: readonly WeierstrassPoint<T>[],
  digits: readonly number[],
  pacer: Pacer,
): Promise<WeierstrassPoint<T>> {
  const buckets = new Array<WeierstrassPoint<T>>(2 ** WINDOW_BITS).fill(group.Point.ZERO);
  for (const [i, digit] of digits.entries()) {
    if (digit === 0) continue;
    buckets[digit] = (buckets[digit] as WeierstrassPoint<T>).add(points[i] as WeierstrassPoint<T>);
    if (i % ADDITIONS_A_LOOK === 0 && pacer.due) await pacer.pause();
  }
  let [suffix, sum] = [group.Point.ZERO, group.Point.ZERO];
  for (let digit = buckets.length - 1; digit > 0; digit--) {
    suffix = suffix.add(buckets[digit] as WeierstrassPoint<T>);
    sum = sum.add(suffix);
    if (digit % ADDITIONS_A_LOOK === 0 && pacer.due) await pacer.pause();
  }
  return sum;
}

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
