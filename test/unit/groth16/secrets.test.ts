import { describe, expect, it } from 'vitest';
import { readBigIntLE } from '../../../src/core/bytes.ts';
import { drawBlinding, drawScalar } from '../../../src/groth16/blinding.ts';
import { drawToxicWaste, toxicWasteFromSeed } from '../../../src/groth16/toxic-waste.ts';
import { curveOf } from '../../../src/math/curve.ts';
import { scalarBytes } from '../../support/system.ts';

describe.each(['bn254', 'bls12-381'] as const)('secrets of %s', (curve) => {
  const { r } = curveOf(curve);
  const bits = r.toString(2).length;

  it('draws again until a value is below r, and never reduces one', () => {
    const draws = [2n ** 256n - 1n, r, r - 1n].map((value) => scalarBytes([value]));
    expect(readBigIntLE(drawScalar(curve, () => draws.shift() as Uint8Array))).toBe(r - 1n);
    expect(draws).toEqual([]);
  });

  it('keeps every bit that r has room for, and no more', () => {
    const top = 2n ** BigInt(bits - 1);
    const excess = 2n ** 256n - 2n ** BigInt(bits);
    const drawn = drawScalar(curve, () => scalarBytes([excess + top]));
    expect(readBigIntLE(drawn)).toBe(top);
  });

  it('fills the range evenly', () => {
    const counts = new Array<number>(8).fill(0);
    for (let i = 0; i < 4000; i++) {
      const eighth = Number((readBigIntLE(drawScalar(curve)) * 8n) / r);
      counts[eighth] = (counts[eighth] as number) + 1;
    }
    // 500 expected in each with a standard deviation of 21: 6 of them are one failure in 10^8 runs.
    for (const count of counts) expect(Math.abs(count - 500)).toBeLessThan(126);
  });

  it('draws another blinding each time', () => {
    const [first, second] = [drawBlinding(curve), drawBlinding(curve)];
    const values = [first.r, first.s, second.r, second.s].map(readBigIntLE);
    expect(new Set(values).size).toBe(4);
  });

  it('derives toxic waste from a seed, and draws it fresh without one', () => {
    const seeded = toxicWasteFromSeed(curve, 'seed');
    expect(toxicWasteFromSeed(curve, 'seed')).toEqual(seeded);
    const all = [
      seeded,
      toxicWasteFromSeed(curve, 'seee'),
      drawToxicWaste(curve),
      drawToxicWaste(curve),
    ];
    const values = all.flatMap((waste) => Object.values(waste));
    expect(new Set(values).size).toBe(20);
    for (const value of values) expect(value > 0n && value < r).toBe(true);
  });
});
