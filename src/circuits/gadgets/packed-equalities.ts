import { LinearCombination } from '../../r1cs/linear-combination.ts';
import type { Recorder } from '../../r1cs/recorder.ts';
import { one } from './boolean.ts';

/** Bits that fit below r whatever they are. */
const CAPACITY = 254;

/**
 * Equalities of small non-negative numbers, as many as fit into one row, at powers of two apart:
 * bellperson's MultiEq. A row is enforced when the next equality does not fit, and at the end.
 */
export class PackedEqualities {
  readonly #cs: Recorder;
  #left = new LinearCombination();
  #right = new LinearCombination();
  #bits = 0;

  constructor(cs: Recorder) {
    this.#cs = cs;
  }

  /** left = right, both below 2^width on every assignment of the bits they are made of. */
  add(width: number, left: LinearCombination, right: LinearCombination): void {
    // A row holds at most 253 bits.
    if (this.#bits + width >= CAPACITY) this.#flush();
    const factor = 1n << BigInt(this.#bits);
    this.#left.plusAll(left, factor);
    this.#right.plusAll(right, factor);
    this.#bits += width;
  }

  finish(): void {
    if (this.#bits > 0) this.#flush();
  }

  #flush(): void {
    this.#cs.enforce(this.#left, one(), this.#right);
    this.#left = new LinearCombination();
    this.#right = new LinearCombination();
    this.#bits = 0;
  }
}
