import { LinearCombination, ONE, Wire } from './linear-combination.ts';

/** A wire that holds 0 or 1, or its negation. */
export interface Literal {
  readonly wire: Wire;
  readonly negated: boolean;
}

/** A bit as gadgets see it: known while the circuit is recorded, or a literal. */
export type Bit = boolean | Literal;

/** What passes into a template and out of it: bits, and numbers (wires of any value). */
export type Signal = Bit | Wire;
export type Signals = Signal | readonly Signals[];

export function literal(wire: Wire): Literal {
  return { wire, negated: false };
}

export function not(bit: Literal): Literal;
export function not(bit: Bit): Bit;
export function not(bit: Bit): Bit {
  return typeof bit === 'boolean' ? !bit : { wire: bit.wire, negated: !bit.negated };
}

/** Adds factor · bit to a linear combination. */
export function addBit(sum: LinearCombination, bit: Bit, factor = 1n): LinearCombination {
  if (typeof bit === 'boolean') return bit ? sum.plus(ONE, factor) : sum;
  return bit.negated ? sum.plus(ONE, factor).plus(bit.wire, -factor) : sum.plus(bit.wire, factor);
}

export function bitSum(bit: Bit): LinearCombination {
  return addBit(new LinearCombination(), bit);
}

/** Σ 2^i · bits[i] */
export function weightedSum(bits: readonly Bit[]): LinearCombination {
  const sum = new LinearCombination();
  for (const [i, bit] of bits.entries()) addBit(sum, bit, 1n << BigInt(i));
  return sum;
}

/** The same nesting with each signal replaced. */
export function mapSignals<T extends Signals>(value: T, map: (signal: Signal) => Signal): T {
  if (isSignal(value)) return map(value) as T;
  return value.map((item) => mapSignals(item, map)) as readonly Signals[] as T;
}

function isSignal(value: Signals): value is Signal {
  return !Array.isArray(value);
}

/** T or F for constants, + or - for literals, # for numbers. */
export function patternOf(signal: Signal): string {
  if (typeof signal === 'boolean') return signal ? 'T' : 'F';
  if (signal instanceof Wire) return '#';
  return signal.negated ? '-' : '+';
}

/** The wire of a signal that is not constant. */
export function wireOf(signal: Exclude<Signal, boolean>): Wire {
  return signal instanceof Wire ? signal : signal.wire;
}
