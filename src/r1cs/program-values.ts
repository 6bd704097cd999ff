import { assert } from '../core/assert.ts';
import { R } from './linear-combination.ts';
import { AUX } from './program-instances.ts';

/** An element of F_r: a safe integer that stands for itself mod r, or a number in [0, r). */
export type Scalar = number | bigint;

/** In place of a value that has no byte. */
const LARGE = 255;

/** In [0, r). */
export function canonical(value: Scalar): bigint {
  const number = BigInt(value) % R;
  return number < 0n ? number + R : number;
}

/** The values of all inputs or all aux variables. Nearly all are bits, and take one byte. */
export class ScalarVector {
  readonly length: number;
  readonly #small: Uint8Array;
  readonly #large = new Map<number, bigint>();

  constructor(length: number) {
    this.length = length;
    this.#small = new Uint8Array(length);
  }

  get(index: number): Scalar {
    const small = this.#small[index] as number;
    return small < LARGE ? small : (this.#large.get(index) as bigint);
  }

  /** @param value a number of 0 or more, or one below r */
  set(index: number, value: Scalar): void {
    assert(index < this.length, 'values: expected an index below their number');
    if (value < LARGE) {
      if (this.#small[index] === LARGE) this.#large.delete(index);
      this.#small[index] = Number(value);
    } else {
      this.#small[index] = LARGE;
      this.#large.set(index, BigInt(value));
    }
  }
}

/** The values of a circuit's variables. Input 0 is 1. */
export class Assignment {
  readonly inputs: ScalarVector;
  readonly aux: ScalarVector;

  constructor(inputs: number, aux: number) {
    this.inputs = new ScalarVector(inputs);
    this.aux = new ScalarVector(aux);
    this.inputs.set(0, 1);
  }

  /** @param code of a variable, as instances have it */
  get(code: number): Scalar {
    return code >= AUX ? this.aux.get(code - AUX) : this.inputs.get(code);
  }
}
