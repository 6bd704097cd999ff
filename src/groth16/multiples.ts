import { concatBytes, readBigIntLE } from '../core/bytes.ts';
import type { CurveName } from '../math/curve.ts';
import { FixedBase } from '../math/fixed-base.ts';
import { Pacer } from '../math/pacer.ts';
import {
  g1Of,
  g2Of,
  type PointForm,
  type PointGroup,
  pointToBytes,
  pointToForm,
} from '../math/points.ts';

/** Multiples of a group's generator. Not constant-time: for development keys. */
export interface GeneratorMultiples {
  /** Multiples to ask for in one call, so that it takes a moment only. */
  readonly chunk: number;
  /**
   * scalar · generator for each, one after the other in `form`; infinity is all zero.
   * @param scalars 32 bytes each, little-endian, any value
   */
  encode(scalars: Uint8Array, form: PointForm): Promise<Uint8Array>;
}

/** Makes ready for about `count` multiples. @throws ERR_CANCELLED */
export type MultiplesOf = (wanted: {
  readonly curve: CurveName;
  readonly group: 'G1' | 'G2';
  readonly count: number;
  readonly signal: AbortSignal;
}) => Promise<GeneratorMultiples>;

export const multiplesInTypeScript: MultiplesOf = ({ curve, group, count, signal }) =>
  group === 'G1'
    ? fixedBaseMultiples(g1Of(curve), count, signal)
    : fixedBaseMultiples(g2Of(curve), count, signal);

const CHUNK = 64;
const SCALAR_BYTES = 32;

async function fixedBaseMultiples<T, B extends Uint8Array>(
  group: PointGroup<T, B>,
  count: number,
  signal: AbortSignal,
): Promise<GeneratorMultiples> {
  const pacer = new Pacer(signal);
  const base = await FixedBase.create(group, count, pacer);
  return {
    chunk: CHUNK,
    async encode(scalars, form) {
      const parts: Uint8Array[] = [];
      const numbers = Array.from({ length: scalars.length / SCALAR_BYTES }, (_, i) =>
        readBigIntLE(scalars.subarray(i * SCALAR_BYTES, (i + 1) * SCALAR_BYTES)),
      );
      for await (const points of base.multiples(numbers, pacer)) {
        for (const point of points) {
          parts.push(point.is0() ? pointToBytes(group, point) : pointToForm(group, form, point));
        }
      }
      return concatBytes(...parts);
    },
  };
}
