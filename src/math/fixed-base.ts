import { normalizeZ } from '@noble/curves/abstract/curve.js';
import type { WeierstrassPoint } from '@noble/curves/abstract/weierstrass.js';
import type { Pacer } from './pacer.ts';
import type { PointGroup } from './points.ts';

const SCALAR_BITS = 256;
/** Multiples that share one inversion: about 12 ms in G1 and 45 ms in G2 between pauses. */
const CHUNK = 64;

/**
 * Multiples of the generator by windows (Brickell, Gordon, McCurley and Wilson, 1992): one addition
 * for each window of the scalar, from a table. Not constant-time: for development keys and tests.
 */
export class FixedBase<T, B extends Uint8Array> {
  readonly group: PointGroup<T, B>;
  readonly #windowBits: number;
  /** #table[w][d] = d · 2^(w · windowBits) · generator */
  readonly #table: readonly (readonly WeierstrassPoint<T>[])[];

  private constructor(
    group: PointGroup<T, B>,
    windowBits: number,
    table: readonly (readonly WeierstrassPoint<T>[])[],
  ) {
    this.group = group;
    this.#windowBits = windowBits;
    this.#table = table;
  }

  /** @param count multiples that will be asked for, about: decides how large a table pays */
  static async create<T, B extends Uint8Array>(
    group: PointGroup<T, B>,
    count: number,
    pacer: Pacer,
  ): Promise<FixedBase<T, B>> {
    const windowBits = windowBitsFor(count);
    const table: WeierstrassPoint<T>[][] = [];
    let base = group.Point.BASE;
    for (let bit = 0; bit < SCALAR_BITS; bit += windowBits) {
      const row = [group.Point.ZERO];
      while (row.length < 2 ** windowBits) row.push((row.at(-1) as WeierstrassPoint<T>).add(base));
      base = (row.at(-1) as WeierstrassPoint<T>).add(base);
      table.push(row);
      if (pacer.due) await pacer.pause();
    }
    return new FixedBase(group, windowBits, table);
  }

  /** scalar · generator, for scalars of 0 to 2^256 - 1, in affine coordinates, by the chunk. */
  async *multiples(
    scalars: readonly bigint[],
    pacer: Pacer,
  ): AsyncGenerator<readonly WeierstrassPoint<T>[]> {
    for (let start = 0; start < scalars.length; start += CHUNK) {
      const points = scalars.slice(start, start + CHUNK).map((scalar) => this.#multiple(scalar));
      yield normalizeZ(this.group.Point, points);
      if (pacer.due) await pacer.pause();
    }
  }

  #multiple(scalar: bigint): WeierstrassPoint<T> {
    const bits = BigInt(this.#windowBits);
    const mask = (1n << bits) - 1n;
    let sum = this.group.Point.ZERO;
    for (let window = 0, rest = scalar; rest > 0n; window++, rest >>= bits) {
      const row = this.#table[window] as readonly WeierstrassPoint<T>[];
      if ((rest & mask) !== 0n) sum = sum.add(row[Number(rest & mask)] as WeierstrassPoint<T>);
    }
    return sum;
  }
}

/** Fewest additions for table and multiples together; more bits would cost memory for little. */
function windowBitsFor(count: number): number {
  const cost = (bits: number) => Math.ceil(SCALAR_BITS / bits) * (2 ** bits + count);
  return [2, 3, 4, 5, 6, 7, 8].reduce((best, bits) => (cost(bits) < cost(best) ? bits : best));
}
