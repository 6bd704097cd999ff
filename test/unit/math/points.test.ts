import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fromHex } from '../../../src/core/bytes.ts';
import type { CurveName } from '../../../src/math/curve.ts';
import {
  checkPoint,
  g1Of,
  g2Of,
  type PointForm,
  type PointGroup,
  pointFromBytes,
  pointFromForm,
  pointToBytes,
  pointToForm,
} from '../../../src/math/points.ts';
import { vector } from '../../support/shared.ts';

type AnyGroup = PointGroup<unknown, Uint8Array>;
const any = (group: unknown): AnyGroup => group as AnyGroup;

const GROUPS = (['bn254', 'bls12-381'] as const).flatMap((curve: CurveName) =>
  [g1Of(curve), g2Of(curve)].map((group) => ({
    title: `${curve} ${group.name}`,
    group: any(group),
  })),
);

describe.each(GROUPS)('points of $title', ({ group }) => {
  const base = group.Point.BASE;

  it('survives every form', () => {
    for (const point of [base, base.negate(), base.double(), base.multiply(123456789n)]) {
      const bytes = pointToBytes(group, point);
      expect(bytes).toHaveLength(group.byteLength);
      expect(pointFromBytes(group, 'point', bytes).equals(point)).toBe(true);
      for (const form of ['montgomery-le', 'canonical-be'] as PointForm[]) {
        const image = pointToForm(group, form, point);
        expect(pointFromForm(group, form, 'point', image).equals(point)).toBe(true);
      }
      expect(pointToForm(group, 'canonical-be', point)).toEqual(bytes);
    }
  });

  it('writes infinity as zeros, except where the form has none', () => {
    const zeros = new Uint8Array(group.byteLength);
    expect(pointToBytes(group, group.Point.ZERO)).toEqual(zeros);
    expect(pointFromBytes(group, 'point', zeros).is0()).toBe(true);
    expect(pointToForm(group, 'montgomery-le', group.Point.ZERO)).toEqual(zeros);
    expect(pointFromForm(group, 'montgomery-le', 'point', zeros).is0()).toBe(true);
    expect(() => pointToForm(group, 'canonical-be', group.Point.ZERO)).toThrow('finite');
    expect(() => pointFromForm(group, 'canonical-be', 'h[3]', zeros)).toThrow('h[3]: expected');
    const flagged = zeros.with(0, 0x40);
    expect(() => pointFromForm(group, 'canonical-be', 'h[3]', flagged)).toThrow('infinity');
  });

  it('refuses a wrong length, a coordinate of q or more, and a point off the curve', () => {
    const bytes = pointToBytes(group, base);
    expect(() => pointFromBytes(group, 'A', bytes.subarray(1))).toThrow('A: expected');
    const { q, fpBytes } = group.curve;
    const modulus = fromHex('q', q.toString(16).padStart(2 * fpBytes, '0'));
    const tooLarge = bytes.slice();
    tooLarge.set(modulus, group.byteLength - fpBytes);
    expect(() => pointFromBytes(group, 'A', tooLarge)).toThrow('below the field modulus');
    const montgomery = pointToForm(group, 'montgomery-le', base);
    montgomery.set(modulus.reverse(), 0);
    expect(() => pointFromForm(group, 'montgomery-le', 'A', montgomery)).toThrow('below the field');
    const off = bytes.with(group.byteLength - 1, (bytes.at(-1) as number) ^ 1);
    expect(() => pointFromBytes(group, 'A', off)).toThrow('off the curve');
  });

  it('refuses a point of the curve outside the group, where there is one', () => {
    const { Point } = group;
    for (let i = 1n; i < 60n; i++) {
      const x = group.join([i, 0n]);
      const { Fp } = Point;
      const y2 = Fp.add(Fp.mul(Fp.sqr(x), x), Point.CURVE().b);
      let y: unknown;
      try {
        y = Fp.sqrt(y2);
      } catch {
        continue;
      }
      const point = Point.fromAffine({ x, y });
      if (point.isTorsionFree()) continue;
      expect(() => checkPoint(group, 'B', point)).toThrow('B: expected a point of');
      expect(() => pointFromBytes(group, 'B', pointToBytes(group, point))).toThrow('outside');
      return;
    }
    expect(group.Point.CURVE().h).toBe(1n);
  });
});

describe('points of public vectors', () => {
  it.for([
    { file: 'g1_uncompressed_valid_test_vectors.dat', group: any(g1Of('bls12-381')) },
    { file: 'g2_uncompressed_valid_test_vectors.dat', group: any(g2Of('bls12-381')) },
  ])('$file holds i·G', ({ file, group }, context) => {
    const bytes = new Uint8Array(readFileSync(vector(context, `bls12_381/zkcrypto/${file}`)));
    const size = group.byteLength;
    expect(() => pointFromForm(group, 'canonical-be', '0', bytes.subarray(0, size))).toThrow();
    let point = group.Point.ZERO;
    for (let i = 1; i < bytes.length / size; i++) {
      point = point.add(group.Point.BASE);
      if (i > 40 && i % 97 !== 0) continue;
      const image = bytes.subarray(i * size, (i + 1) * size);
      expect(pointToBytes(group, point)).toEqual(image);
      expect(pointFromForm(group, 'canonical-be', `${i}`, image).equals(point)).toBe(true);
    }
  });

  it('points_381.hex is in Montgomery form', (context) => {
    const text = readFileSync(vector(context, 'bls12_381/zprize2023-msm/points_381.hex'), 'utf8');
    const group = g1Of('bls12-381');
    for (const line of text.trim().split('\n').slice(0, 20)) {
      const [x, y] = line.split(/\s+/).map((h) => fromHex('x', h.replace('0x', '')).reverse());
      const image = new Uint8Array([...(x as Uint8Array), ...(y as Uint8Array)]);
      const point = pointFromForm(group, 'montgomery-le', 'point', image);
      checkPoint(group, 'point', point);
      expect(pointToForm(group, 'montgomery-le', point)).toEqual(image);
    }
  });
});
