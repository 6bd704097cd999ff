import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { BLS_G1, BLS_G2, compress, decompress, toForm } from '../../../src/formats/points.ts';
import { type PointGroup, pointFromForm, pointToBytes } from '../../../src/math/points.ts';
import { vector } from '../../support/shared.ts';

type AnyGroup = PointGroup<unknown, Uint8Array>;
const GROUPS = [
  { name: 'g1', group: BLS_G1 as unknown as AnyGroup },
  { name: 'g2', group: BLS_G2 as unknown as AnyGroup },
];

describe.each(GROUPS)('compressed points of $name', ({ name, group }) => {
  const base = pointToBytes(group, group.Point.BASE);
  const size = group.byteLength / 2;

  it('survives both signs of y', () => {
    for (const k of [1n, 2n, 3n, 1234567n]) {
      for (const point of [group.Point.BASE.multiply(k), group.Point.BASE.multiply(k).negate()]) {
        const bytes = pointToBytes(group, point);
        const compressed = compress(group, bytes);
        expect(compressed).toHaveLength(size);
        expect(decompress(group, 'A', compressed)).toEqual(bytes);
      }
    }
  });

  it('refuses other lengths, flags and encodings', () => {
    const good = compress(group, base);
    const first = good[0] as number;
    expect(() => decompress(group, 'A', good.subarray(1))).toThrow(`A: expected ${size} bytes`);
    expect(() => decompress(group, 'A', base)).toThrow(`expected ${size} bytes`);
    const infinity = new Uint8Array(size).with(0, 0xc0);
    expect(() => decompress(group, 'A', infinity)).toThrow('the point at infinity');
    for (const bad of [
      good.with(0, first & 0x7f),
      good.with(0, first | 0x40),
      infinity.with(0, 0xe0),
      infinity.with(size - 1, 1),
      new Uint8Array(size),
      new Uint8Array(size).fill(0xff),
      new Uint8Array(size).with(0, 0x80).fill(0xff, 1),
    ]) {
      expect(() => decompress(group, 'A', bad)).toThrow(/^A: expected a compressed point of/);
    }
  });

  it('refuses a point of the curve outside the group', () => {
    let refused = 0;
    for (let x = 0; x < 40; x++) {
      const bytes = new Uint8Array(size).with(0, 0x80).with(size - 1, x);
      expect(() => decompress(group, 'A', bytes)).toThrow('bytes that are not one');
      refused++;
    }
    expect(refused).toBe(40);
  });

  it('decodes i·G of the public vectors as it does their uncompressed form', (context) => {
    const path = (kind: string) => `bls12_381/zkcrypto/${name}_${kind}_valid_test_vectors.dat`;
    const compressed = new Uint8Array(readFileSync(vector(context, path('compressed'))));
    const uncompressed = new Uint8Array(readFileSync(vector(context, path('uncompressed'))));
    expect(() => decompress(group, '0', compressed.subarray(0, size))).toThrow('infinity');
    for (let i = 1; i < 1000; i += i < 20 ? 1 : 49) {
      const bytes = decompress(group, `${i}`, compressed.subarray(i * size, (i + 1) * size));
      const full = uncompressed.subarray(2 * i * size, 2 * (i + 1) * size);
      expect(bytes).toEqual(full);
      expect(compress(group, bytes)).toEqual(compressed.subarray(i * size, (i + 1) * size));
    }
  });

  it('turns canonical bytes into either form of a query', () => {
    expect(toForm(group, 'canonical-be', base)).toEqual(base);
    const montgomery = toForm(group, 'montgomery-le', base);
    const point = pointFromForm(group, 'montgomery-le', 'A', montgomery);
    expect(point.equals(group.Point.BASE)).toBe(true);
    const zeros = new Uint8Array(group.byteLength);
    expect(toForm(group, 'montgomery-le', zeros)).toEqual(zeros);
  });
});
