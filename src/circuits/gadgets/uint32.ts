import { assert } from '../../core/assert.ts';
import { LinearCombination } from '../../r1cs/linear-combination.ts';
import type { Recorder } from '../../r1cs/recorder.ts';
import { addBit, type Bit, weightedSum } from '../../r1cs/recorder-signals.ts';
import { allocateBit, xor } from './boolean.ts';
import type { PackedEqualities } from './packed-equalities.ts';

/** 32 bits, the least significant first. */
export type Word = readonly Bit[];

const BITS = 32;

export function constantWord(value: number): Word {
  return Array.from({ length: BITS }, (_, i) => ((value >>> i) & 1) === 1);
}

/** FIPS 180-4 section 3.2: the result's bit i is bit i + count of the word. No constraints. */
export function rotateRight(word: Word, count: number): Word {
  return [...word.slice(count), ...word.slice(0, count)];
}

/** @see rotateRight; zeros come in */
export function shiftRight(word: Word, count: number): Word {
  return [...word.slice(count), ...new Array<Bit>(count).fill(false)];
}

/** @cost 32 times that of one bit */
export function xorWords(cs: Recorder, x: Word, y: Word): Word {
  return x.map((bit, i) => xor(cs, bit, y[i] as Bit));
}

/**
 * Σ operands mod 2^32. The sum's bits, carries included, are allocated, and their equality with the
 * operands' sum is one term of `equalities`.
 * @param operands 2 to 10
 * @cost 33 constraints and aux variables for 2 operands, 34 for 3 or 4, 35 for 5 to 8, 36 for more;
 * nothing where all are constant
 */
export function addMany(
  cs: Recorder,
  equalities: PackedEqualities,
  operands: readonly Word[],
): Word {
  assert(operands.length >= 2 && operands.length <= 10, 'addMany: expected 2 to 10 operands');
  const known = constantSum(operands);
  if (known !== undefined) return constantWord(known);
  const sum = new LinearCombination();
  for (const word of operands) {
    for (const [i, bit] of word.entries()) addBit(sum, bit, 1n << BigInt(i));
  }
  const width = (BigInt(operands.length) * 0xffff_ffffn).toString(2).length;
  const bits = Array.from({ length: width }, (_, index) =>
    allocateBit(cs, { op: 'bit', of: sum, index }),
  );
  equalities.add(width, sum, weightedSum(bits));
  return bits.slice(0, BITS);
}

/** Mod 2^32; undefined unless every bit is constant. */
function constantSum(operands: readonly Word[]): number | undefined {
  let sum = 0;
  for (const word of operands) {
    for (const [i, bit] of word.entries()) {
      if (typeof bit !== 'boolean') return undefined;
      if (bit) sum += 2 ** i;
    }
  }
  return sum % 2 ** BITS;
}
