import type { WeierstrassPoint } from '@noble/curves/abstract/weierstrass.js';
import type { BackendStage } from '../../src/backend/backend.ts';
import { readBigIntLE } from '../../src/core/bytes.ts';
import type { Blinding, Proof } from '../../src/groth16/types.ts';
import { curveOf } from '../../src/math/curve.ts';
import { msm } from '../../src/math/msm.ts';
import type { Pacer } from '../../src/math/pacer.ts';
import {
  type G1Point,
  type G2Point,
  g1Of,
  g2Of,
  type PointGroup,
  pointToBytes,
} from '../../src/math/points.ts';
import type { Assignment } from './assignment.ts';
import type { ReferenceKey } from './key.ts';

/** The five multi-scalar multiplications. */
export interface Sums {
  readonly h: G1Point;
  readonly l: G1Point;
  readonly a: G1Point;
  readonly bG1: G1Point;
  readonly bG2: G2Point;
}

export interface Reporter {
  timed<T>(stage: BackendStage, work: (pacer: Pacer) => Promise<T>): Promise<T>;
  progress(share: number): void;
}

/** An addition in G2 takes about as long as this many in G1. */
const G2_WEIGHT = 4;

export async function multiply(
  key: ReferenceKey,
  quotient: readonly bigint[],
  { aux, a, b }: Assignment,
  reporter: Reporter,
): Promise<Sums> {
  const [g1, g2] = [g1Of(key.source.curve), g2Of(key.source.curve)];
  const total = quotient.length + aux.length + a.length + (1 + G2_WEIGHT) * b.length;
  let done = 0;
  const sum = async <T, B extends Uint8Array>(
    stage: BackendStage,
    group: PointGroup<T, B>,
    points: readonly WeierstrassPoint<T>[],
    scalars: readonly bigint[],
  ): Promise<WeierstrassPoint<T>> => {
    const work = scalars.length * (group.name === 'G1' ? 1 : G2_WEIGHT);
    const result = await reporter.timed(stage, (pacer) =>
      msm(group, points, scalars, pacer, (share) =>
        reporter.progress((done + work * share) / total),
      ),
    );
    done += work;
    return result;
  };
  return {
    h: await sum('MSM_H', g1, key.h, quotient),
    l: await sum('MSM_L', g1, key.l, aux),
    a: await sum('MSM_A', g1, key.a, a),
    bG1: await sum('MSM_B_G1', g1, key.bG1, b),
    bG2: await sum('MSM_B_G2', g2, key.bG2, b),
  };
}

/**
 * A = alpha + a + r·delta, B = beta + b + s·delta, C = h + l + s·A + r·B - rs·delta, with B of the
 * last in G1 (eprint 2016/260, section 3.2).
 */
export function assemble(key: ReferenceKey, sums: Sums, blinding: Blinding): Proof {
  const { curve } = key.source;
  const [r, s] = [readBigIntLE(blinding.r), readBigIntLE(blinding.s)];
  const rs = (r * s) % curveOf(curve).r;
  const a = key.alphaG1.add(sums.a).add(key.deltaG1.multiplyUnsafe(r));
  const bG1 = key.betaG1.add(sums.bG1).add(key.deltaG1.multiplyUnsafe(s));
  const bG2 = key.betaG2.add(sums.bG2).add(key.deltaG2.multiplyUnsafe(s));
  const c = sums.h
    .add(sums.l)
    .add(a.multiplyUnsafe(s))
    .add(bG1.multiplyUnsafe(r))
    .subtract(key.deltaG1.multiplyUnsafe(rs));
  return {
    curve,
    a: pointToBytes(g1Of(curve), a),
    b: pointToBytes(g2Of(curve), bG2),
    c: pointToBytes(g1Of(curve), c),
  };
}
