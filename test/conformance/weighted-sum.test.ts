import { expect, it } from 'vitest';
import { nativeWeightedSum } from '../../backends/cpu/weighted-sum.ts';
import { writeBigIntLE } from '../../src/core/bytes.ts';
import { sumInTypeScript } from '../../src/groth16/weighted-sum.ts';
import { curveOf, type FrCanonicalLE, type G1Bytes } from '../../src/math/curve.ts';
import { g1Of, pointToBytes } from '../../src/math/points.ts';
import { scalars } from '../support/scalars.ts';

const native = nativeWeightedSum(2);
const { signal } = new AbortController();

it.for(['bn254', 'bls12-381'] as const)(
  'adds up on %s as TypeScript does',
  async (curve, context) => {
    context.skip(native === undefined, 'the native backend is not built');
    const g1 = g1Of(curve);
    const { r } = curveOf(curve);
    const some = [...scalars(curve, 12), 0n, 1n, 2n, r - 1n, 1n << 31n];
    const points = some.map((_, i) =>
      pointToBytes(g1, g1.Point.BASE.multiplyUnsafe(BigInt(i % 7))),
    );
    for (const count of [0, 1, some.length]) {
      const wanted = {
        ...{ curve, signal, points: points.slice(0, count) as G1Bytes[] },
        scalars: some.slice(0, count).map((x) => writeBigIntLE(x, 32) as FrCanonicalLE),
      };
      expect(await native?.(wanted)).toEqual(Buffer.from(await sumInTypeScript(wanted)));
    }
  },
);

it('refuses bytes that are no coordinates', async (context) => {
  context.skip(native === undefined, 'the native backend is not built');
  const bad = native?.({
    ...{ curve: 'bn254', signal, points: [new Uint8Array(64).fill(255) as G1Bytes] },
    scalars: [writeBigIntLE(1n, 32) as FrCanonicalLE],
  });
  await expect(bad).rejects.toMatchObject({ code: 'ERR_FORMAT' });
});
