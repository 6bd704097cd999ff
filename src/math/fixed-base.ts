import { normalizeZ } from '@noble/curves/abstract/curve.js';
import type { WeierstrassPoint } from '@noble/curves/abstract/weierstrass.js';
import type { Pacer } from './pacer.ts';
import type { PointGroup } from './points.ts';

const WINDOW_BITS = 8;
const WINDOWS = 256 / WINDOW_BITS;
const DIGITS = 2 ** WINDOW_BITS;
/** Multiples that share one inversion: about 12 ms in G1 and 45 ms in G2 between pauses. */
const CHUNK = 64;

/**
 * Multiples of the generator by windows (Brickell, Gordon, McCurley and Wilson, 1992): 32 additions a scalar
 * from a table of 32 x 255 points. Not constant-time: for development keys and tests.
 */
export class FixedBase<T, B extends Uint8Array> {
  readonly group: PointGroup<T, B>;
  /** #table[w][d] = d · 2^(8w) · generator */
  readonly #table: readonly (readonly WeierstrassPoint<T>[])[];

  private constructor(group: PointGroup<T, B>, table: readonly (readonly WeierstrassPoint<T>[])[]) {
    this.group = group;
    this.#table = table;
  }

  static async create<T, B extends Uint8Array>(
    group: PointGroup<T, B>,
    pacer: Pacer,
  ): Promise<FixedBase<T, B>> {
    const table: WeierstrassPoint<T>[][] = [];
    let base = group.Point.BASE;
    for (let window = 0; window < WINDOWS; window++) {
      const row = [group.Point.ZERO];
      for (let digit = 1; digit < DIGITS; digit++) {
        row.push((row[digit - 1] as WeierstrassPoint<T>).add(base));
      }
      base = (row[DIGITS - 1] as WeierstrassPoint<T>).add(base);
      table.push(row);
      if (pacer.due) await pacer.pause();
    }
    return new FixedBase(group, table);
  }

  /** scalar · generator, for each scalar of 0 to 2^256 - 1, in affine coordinates, chunk by chunk. */
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
    let sum = this.group.Point.ZERO;
    for (let window = 0, rest = scalar; rest > 0n; window++, rest >>= BigInt(WINDOW_BITS)) {
      const digit = Number(rest & BigInt(DIGITS - 1));
      const row = this.#table[window] as readonly WeierstrassPoint<T>[];
      if (digit !== 0) sum = sum.add(row[digit] as WeierstrassPoint<T>);
    }
    return sum;
  }
}
