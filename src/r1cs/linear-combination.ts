import { assert } from '../core/assert.ts';
import { curveOf } from '../math/curve.ts';

/** Programs are recorded over the scalars of BLS12-381. */
export const R = curveOf('bls12-381').r;

/**
 * A variable of a circuit while it is recorded. `bound` wires come from outside of the template,
 * `public` and `aux` ones are its own, numbered in the order of their allocation.
 */
export class Wire {
  readonly kind: 'one' | 'bound' | 'public' | 'aux';
  readonly index: number;
  /** The recorder that knows it. */
  readonly owner: object | undefined;

  constructor(kind: Wire['kind'], index: number, owner: object | undefined) {
    this.kind = kind;
    this.index = index;
    this.owner = owner;
  }
}

/** The constant 1, the first of every circuit's inputs. */
export const ONE = new Wire('one', 0, undefined);

/** More terms than this are looked up in a map. */
const SCANNED_MAX = 8;

/** Σ coefficient · wire over F_r. */
export class LinearCombination {
  readonly #wires: Wire[] = [];
  /** Between -r and r; a sum may have cancelled to zero. */
  readonly #coefficients: bigint[] = [];
  #positions: Map<Wire, number> | undefined;
  #encodedBy: object | undefined;
  #encodedAs = 0;

  static of(wire: Wire, coefficient = 1n): LinearCombination {
    return new LinearCombination().plus(wire, coefficient);
  }

  /** coefficient · 1 */
  static constant(coefficient: bigint): LinearCombination {
    return LinearCombination.of(ONE, coefficient);
  }

  /** In place. @param coefficient between -r and r */
  plus(wire: Wire, coefficient = 1n): this {
    assert(this.#encodedBy === undefined, 'linear combination: expected no change after its use');
    const at = this.#find(wire);
    if (at === undefined) this.#append(wire, coefficient);
    else this.#coefficients[at] = ((this.#coefficients[at] as bigint) + coefficient) % R;
    return this;
  }

  /** In place: adds factor · other. */
  plusAll(other: LinearCombination, factor = 1n): this {
    for (const [i, wire] of other.#wires.entries()) {
      const coefficient = other.#coefficients[i] as bigint;
      this.plus(wire, factor === 1n ? coefficient : (coefficient * factor) % R);
    }
    return this;
  }

  /** Its number in a table, which `encode` gives it there once. It may not change any more. */
  indexIn(table: object, encode: (lc: LinearCombination) => number): number {
    if (this.#encodedBy !== table) {
      this.#encodedAs = encode(this);
      this.#encodedBy = table;
    }
    return this.#encodedAs;
  }

  /** The terms that are not zero, in the order in which their wires came up. */
  forEach(visit: (wire: Wire, coefficient: bigint) => void): void {
    for (let i = 0; i < this.#wires.length; i++) {
      const coefficient = this.#coefficients[i] as bigint;
      if (coefficient !== 0n) visit(this.#wires[i] as Wire, coefficient);
    }
  }

  #find(wire: Wire): number | undefined {
    if (this.#positions !== undefined) return this.#positions.get(wire);
    const at = this.#wires.indexOf(wire);
    return at < 0 ? undefined : at;
  }

  #append(wire: Wire, coefficient: bigint): void {
    this.#coefficients.push(coefficient);
    const length = this.#wires.push(wire);
    if (this.#positions !== undefined) this.#positions.set(wire, length - 1);
    else if (length > SCANNED_MAX) {
      this.#positions = new Map(this.#wires.map((each, i) => [each, i]));
    }
  }
}
