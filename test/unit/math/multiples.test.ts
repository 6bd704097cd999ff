import { describe, expect, it } from 'vitest';
import { type CurveName, curveOf } from '../../../src/math/curve.ts';
import { FixedBase } from '../../../src/math/fixed-base.ts';
import { msm } from '../../../src/math/msm.ts';
import { Pacer } from '../../../src/math/pacer.ts';
import { type G1Point, g1Of, g2Of } from '../../../src/math/points.ts';
import { scalars } from '../../support/scalars.ts';

const pacer = new Pacer(new AbortController().signal);
const CURVES: readonly CurveName[] = ['bn254', 'bls12-381'];

async function collect<T>(chunks: AsyncIterable<readonly T[]>): Promise<T[]> {
  const all: T[] = [];
  for await (const chunk of chunks) all.push(...chunk);
  return all;
}

describe.each(CURVES)('multiples on %s', (name) => {
  const { r } = curveOf(name);
  const g1 = g1Of(name);
  const g2 = g2Of(name);

  it('fixed-base multiples of G1 equal those of noble', async () => {
    const values = [...scalars(name, 80), 0n, 1n, r - 1n];
    const base = await FixedBase.create(g1, values.length, pacer);
    const points = await collect(base.multiples(values, pacer));
    expect(points.map((p) => p.toAffine())).toEqual(
      values.map((value) => g1.Point.BASE.multiplyUnsafe(value).toAffine()),
    );
    expect(points.at(-3)?.is0()).toBe(true);
  });

  it('fixed-base multiples of G2 equal those of noble', async () => {
    const values = [0n, 1n, r - 1n, ...scalars(name, 3)];
    const base = await FixedBase.create(g2, 1000, pacer);
    const points = await collect(base.multiples(values, pacer));
    expect(points.map((p) => p.toAffine())).toEqual(
      values.map((value) => g2.Point.BASE.multiplyUnsafe(value).toAffine()),
    );
  });

  it.each([0, 1, 3, 255, 256, 257, 600])('msm of %i terms equals the known sum', async (n) => {
    const logs = scalars(name, n);
    const base = await FixedBase.create(g1, n, pacer);
    const points: G1Point[] = await collect(base.multiples(logs, pacer));
    const factors = scalars(name, n);
    const sum = logs.reduce((total, log, i) => (total + log * (factors[i] as bigint)) % r, 0n);
    const shares: number[] = [];
    const actual = await msm(g1, points, factors, pacer, (share) => shares.push(share));
    expect(actual.equals(g1.Point.BASE.multiplyUnsafe(sum))).toBe(true);
    expect(shares.at(-1) ?? 1).toBe(1);
  });

  it('msm stops when it is aborted', async () => {
    const controller = new AbortController();
    const points = Array.from({ length: 2048 }, () => g1.Point.BASE);
    const factors = Array.from({ length: 2048 }, () => r - 1n);
    const done = msm(g1, points, factors, new Pacer(controller.signal), () => controller.abort());
    await expect(done).rejects.toMatchObject({ code: 'ERR_CANCELLED' });
  });
});
