import { readBigIntLE } from '../core/bytes.ts';
import type { CurveName, FrCanonicalLE, G1Bytes } from '../math/curve.ts';
import { msm, msmOfSmall } from '../math/msm.ts';
import { Pacer } from '../math/pacer.ts';
import { type G1Point, g1Of, pointFromCheckedBytes, pointToBytes } from '../math/points.ts';

/** What is added up: points of G1 in canonical bytes (all zero: infinity), scalars below r. */
export interface Weighted {
  readonly curve: CurveName;
  /** Of the group: not checked. */
  readonly points: readonly G1Bytes[];
  readonly scalars: readonly FrCanonicalLE[];
  readonly signal: AbortSignal;
}

/** Σ scalars[i]·points[i]. @throws ERR_CANCELLED */
export type WeightedSum = (wanted: Weighted) => Promise<G1Bytes>;

/** From here on, buckets pay for the small ones. */
const MANY = 2000;

export const sumInTypeScript: WeightedSum = async ({ curve, points, scalars, signal }) => {
  const pacer = new Pacer(signal);
  const g1 = g1Of(curve);
  const read: G1Point[] = [];
  for (const bytes of points) {
    read.push(pointFromCheckedBytes(g1, `point ${read.length}`, bytes));
    if (pacer.due) await pacer.pause();
  }
  const sum = points.length > MANY ? msmOfSmall : msm;
  return pointToBytes(g1, await sum(g1, read, scalars.map(readBigIntLE), pacer));
};
