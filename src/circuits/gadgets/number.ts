import { LinearCombination, type Wire } from '../../r1cs/linear-combination.ts';
import type { Recorder } from '../../r1cs/recorder.ts';
import { type Bit, bitSum, type Literal, weightedSum } from '../../r1cs/recorder-signals.ts';
import { allocateBit, one } from './boolean.ts';

/** Bits of an element of F_r, and bits that fit below r whatever they are. */
export const FIELD_BITS = 255;
export const CAPACITY = 254;

/**
 * A number that the prover chooses, its next private input.
 * @cost 1 aux variable
 */
export function witness(cs: Recorder): Wire {
  return cs.allocate({ op: 'hint' });
}

/**
 * A bit that the prover chooses, its next private input.
 * @cost 1 constraint, 1 aux variable
 */
export function witnessBit(cs: Recorder): Literal {
  return allocateBit(cs, { op: 'hint' });
}

/**
 * Makes a number public: input·1 = x.
 * @cost 1 constraint, 1 input
 */
export function publish(cs: Recorder, x: Wire): void {
  const input = cs.allocatePublic(LinearCombination.of(x));
  cs.enforce(LinearCombination.of(input), one(), LinearCombination.of(x));
}

/**
 * x·1 = y.
 * @cost 1 constraint
 */
export function equal(cs: Recorder, x: Wire, y: Wire): void {
  cs.enforce(LinearCombination.of(x), one(), LinearCombination.of(y));
}

/**
 * A variable for a sum: sum·1 = z.
 * @cost 1 constraint, 1 aux variable
 */
export function reduce(cs: Recorder, sum: LinearCombination): Wire {
  const z = cs.allocate({ op: 'linear', of: sum });
  cs.enforce(sum, one(), LinearCombination.of(z));
  return z;
}

/**
 * z = x + y.
 * @cost 1 constraint, 1 aux variable
 */
export function add(cs: Recorder, x: Wire, y: Wire): Wire {
  return reduce(cs, LinearCombination.of(x).plus(y));
}

/**
 * z = xy.
 * @cost 1 constraint, 1 aux variable
 */
export function multiply(cs: Recorder, x: Wire, y: Wire): Wire {
  const factors = [LinearCombination.of(x), LinearCombination.of(y)] as const;
  const z = cs.allocate({ op: 'product', factors, plus: new LinearCombination() });
  cs.enforce(...factors, LinearCombination.of(z));
  return z;
}

/**
 * condition ? x : y, as z with (y - x)·condition = y - z.
 * @cost 1 constraint, 1 aux variable
 */
export function pick(cs: Recorder, condition: Bit, x: Wire, y: Wire): Wire {
  const z = cs.allocate({
    op: 'product',
    factors: [LinearCombination.of(x).plus(y, -1n), bitSum(condition)],
    plus: LinearCombination.of(y),
  });
  cs.enforce(
    LinearCombination.of(y).plus(x, -1n),
    bitSum(condition),
    LinearCombination.of(y).plus(z, -1n),
  );
  return z;
}

/**
 * The 255 bits of a number, the least significant first. Not strict: x + r has them too where it is
 * below 2^255. The last row is 0·0 = Σ 2^i·bit_i - x, bellperson's `to_bits_le`.
 * @cost 256 constraints, 255 aux variables
 */
export function toBits(cs: Recorder, x: Wire): Literal[] {
  return cs.template('bits', [x], (inner, [number]) => {
    const bits = bitsOf(inner, number, FIELD_BITS);
    const difference = weightedSum(bits).plus(number, -1n);
    inner.enforce(new LinearCombination(), new LinearCombination(), difference);
    return bits;
  });
}

/**
 * The lowest bits of a number, which has no others: (Σ 2^i·bit_i)·1 = x. With 255 of them it is no
 * stricter than `toBits`.
 * @cost count + 1 constraints, count aux variables
 */
export function unpack(cs: Recorder, x: Wire, count: number): Literal[] {
  const bits = bitsOf(cs, x, count);
  cs.enforce(weightedSum(bits), one(), LinearCombination.of(x));
  return bits;
}

function bitsOf(cs: Recorder, x: Wire, count: number): Literal[] {
  const of = LinearCombination.of(x);
  return Array.from({ length: count }, (_, index) => allocateBit(cs, { op: 'bit', of, index }));
}

/**
 * The number of the first 254 bits, the least significant first.
 * @cost 1 constraint, 1 aux variable
 */
export function pack(cs: Recorder, bits: readonly Bit[]): Wire {
  return reduce(cs, weightedSum(bits.slice(0, CAPACITY)));
}

/**
 * Makes public the number of at most 254 bits, the least significant first:
 * (Σ 2^i·bit_i)·1 = input.
 * @cost 1 constraint, 1 input
 */
export function publishBits(cs: Recorder, bits: readonly Bit[]): void {
  const sum = weightedSum(bits);
  const input = cs.allocatePublic(sum);
  cs.enforce(sum, one(), LinearCombination.of(input));
}

/**
 * Between the bits of a number, least significant first, and the order of SHA-256, where each byte
 * has its most significant bit first: padded with zeros to whole bytes, each of them reversed. No
 * constraints.
 */
export function reverseBytes(bits: readonly Bit[]): Bit[] {
  const padded = [...bits];
  while (padded.length % 8 !== 0) padded.push(false);
  return padded.map((_, i) => padded[i - (i % 8) + 7 - (i % 8)] as Bit);
}
