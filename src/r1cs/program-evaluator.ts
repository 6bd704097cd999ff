import { assert } from '../core/assert.ts';
import { R } from './linear-combination.ts';
import type { Program } from './program.ts';
import { canonical, type Scalar } from './program-values.ts';
import { type Leaf, OP, OPERATION_WORDS, TERM_INDEX_MAX } from './template.ts';

/** Products up to this are summed as numbers: 2^16 of them, the most a leaf has, stay exact. */
const PRODUCT_MAX = 2 ** 36;
const EXACT_MAX = 2 ** 52;

/**
 * Arithmetic of leaves, exactly as their words say it and no faster than numbers allow: the answer
 * that quicker interpreters must give too. Values of local wires are numbers of 0 or more, or
 * numbers below r.
 */
export class Evaluator {
  /** Coefficients as numbers between -r/2 and r/2, where they are small: NaN elsewhere. */
  readonly #small: Float64Array;
  readonly #signed: readonly bigint[];

  constructor({ coefficients }: Program) {
    this.#signed = coefficients.map((c) => (c > R / 2n ? c - R : c));
    this.#small = Float64Array.from(this.#signed, (c) =>
      c <= PRODUCT_MAX && c >= -PRODUCT_MAX ? Number(c) : Number.NaN,
    );
  }

  /** The value of a linear combination; where it is a number, it may be negative. */
  combine({ lcEnds, terms }: Leaf, lc: number, values: readonly Scalar[]): Scalar {
    const end = lcEnds[lc] as number;
    let [sum, large] = [0, 0n];
    for (let i = lc === 0 ? 0 : (lcEnds[lc - 1] as number); i < end; i++) {
      const term = terms[i] as number;
      const value = values[term & TERM_INDEX_MAX] as Scalar;
      if (value === 0) continue;
      const coefficient = term >>> 16;
      const product =
        typeof value === 'number' ? (this.#small[coefficient] as number) * value : NaN;
      if (Math.abs(product) <= PRODUCT_MAX) sum += product;
      else if (value === 1) large += this.#signed[coefficient] as bigint;
      else large += (this.#signed[coefficient] as bigint) * BigInt(value);
    }
    return large === 0n ? sum : canonical(large + BigInt(sum));
  }

  /** The same as a wire would hold it. */
  value(leaf: Leaf, lc: number, values: readonly Scalar[]): Scalar {
    return small(this.combine(leaf, lc, values));
  }

  /** Computes the aux variables of an instance, after its bound wires. @param hint by index */
  computeAux(leaf: Leaf, values: Scalar[], hint: (index: number) => bigint): void {
    const { operations, aux, bound, publics } = leaf;
    let known = { lc: -1, value: 0n };
    for (let i = 0; i < aux; i++) {
      const at = i * OPERATION_WORDS;
      const x = operations[at + 1] as number;
      const y = operations[at + 2] as number;
      const z = operations[at + 3] as number;
      const wire = 1 + bound + publics + i;
      switch (operations[at]) {
        case OP.hint:
          values[wire] = small(hint(x));
          break;
        case OP.xor:
          values[wire] = bitOf(x, values) ^ bitOf(y, values);
          break;
        case OP.and:
          values[wire] = bitOf(x, values) & bitOf(y, values);
          break;
        case OP.choose:
          values[wire] = bitOf(bitOf(x, values) === 1 ? y : z, values);
          break;
        case OP.majority:
          values[wire] = (bitOf(x, values) + bitOf(y, values) + bitOf(z, values)) >> 1;
          break;
        case OP.bit:
          if (known.lc !== x) known = { lc: x, value: canonical(this.combine(leaf, x, values)) };
          values[wire] = Number((known.value >> BigInt(y)) & 1n);
          break;
        case OP.linear:
          values[wire] = this.value(leaf, x, values);
          break;
        default:
          assert(operations[at] === OP.product, 'operation: expected a known one');
          values[wire] = small(
            plusProduct(
              this.combine(leaf, x, values),
              this.combine(leaf, y, values),
              this.combine(leaf, z, values),
            ),
          );
      }
    }
  }
}

/** Whether a · b = c mod r. */
export function holds(a: Scalar, b: Scalar, c: Scalar): boolean {
  const difference = plusProduct(a, b, -c);
  return difference === 0 || difference === 0n;
}

/** x · y + z */
function plusProduct(x: Scalar, y: Scalar, z: Scalar): Scalar {
  if (typeof x === 'number' && typeof y === 'number' && typeof z === 'number') {
    const product = x * y;
    if (Math.abs(product) <= EXACT_MAX && Math.abs(z) <= EXACT_MAX) return product + z;
  }
  return canonical(BigInt(x) * BigInt(y) + BigInt(z));
}

/** As local wires hold it. */
function small(value: Scalar): Scalar {
  if (typeof value === 'number') return value >= 0 ? value : canonical(value);
  return value <= PRODUCT_MAX ? Number(value) : value;
}

/** Of a literal. Of a wire that holds no bit, the lowest bit counts. */
function bitOf(code: number, values: readonly Scalar[]): number {
  const value = values[code >>> 1] as Scalar;
  return ((typeof value === 'number' ? value : Number(value & 1n)) ^ code) & 1;
}
