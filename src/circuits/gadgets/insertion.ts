import { assert } from '../../core/assert.ts';
import type { Wire } from '../../r1cs/linear-combination.ts';
import type { Recorder } from '../../r1cs/recorder.ts';
import { type Bit, not } from '../../r1cs/recorder-signals.ts';
import { and } from './boolean.ts';
import { pick } from './number.ts';

type Bits2 = readonly [Bit, Bit];
type Bits3 = readonly [Bit, Bit, Bit];
type Wires3 = readonly [Wire, Wire, Wire];
type Wires7 = readonly [...Wires3, ...Wires3, Wire];

/**
 * Puts `node` among its siblings, which keep their order, at the index with these bits, the least
 * significant first. As storage-proofs-core constrains it: each place picks between its neighbours.
 * @returns siblings.length + 1 numbers
 * @cost    2, 8 or 22 constraints and aux variables for 2, 4 or 8 numbers
 */
export function insert(
  cs: Recorder,
  node: Wire,
  siblings: readonly Wire[],
  index: readonly Bit[],
): Wire[] {
  if (siblings.length === 1) return insertIn2(cs, node, siblings[0] as Wire, index[0] as Bit);
  if (siblings.length === 3) return insertIn4(cs, node, siblings as Wires3, index as Bits2);
  assert(siblings.length === 7, `insert: expected 1, 3 or 7 siblings, got ${siblings.length}`);
  return insertIn8(cs, node, siblings as unknown as Wires7, index as Bits3);
}

function insertIn2(cs: Recorder, a: Wire, b: Wire, bit: Bit): Wire[] {
  return [pick(cs, bit, b, a), pick(cs, bit, a, b)];
}

function insertIn4(cs: Recorder, a: Wire, [b, c, d]: Wires3, [low, high]: Bits2): Wire[] {
  return [
    pick(cs, high, b, pick(cs, low, b, a)),
    pick(cs, high, c, pick(cs, low, a, b)),
    pick(cs, high, pick(cs, low, d, a), c),
    pick(cs, high, pick(cs, low, a, d), d),
  ];
}

function insertIn8(
  cs: Recorder,
  a: Wire,
  [b, c, d, e, f, g, h]: Wires7,
  [low, middle, high]: Bits3,
): Wire[] {
  const neither = and(cs, not(low), not(middle));
  const both = and(cs, low, middle);
  return [
    pick(cs, high, b, pick(cs, neither, a, b)),
    pick(cs, high, c, pick(cs, middle, c, pick(cs, low, a, b))),
    pick(cs, high, d, pick(cs, middle, pick(cs, low, d, a), c)),
    pick(cs, high, e, pick(cs, both, a, d)),
    pick(cs, high, pick(cs, neither, a, f), e),
    pick(cs, high, pick(cs, middle, g, pick(cs, low, a, f)), f),
    pick(cs, high, pick(cs, middle, pick(cs, low, h, a), g), g),
    pick(cs, high, pick(cs, both, a, h), h),
  ];
}

/**
 * The one of 2^n numbers at the index with these n bits, the least significant first.
 * @cost 2^n - 1 constraints and aux variables
 */
export function select(cs: Recorder, numbers: readonly Wire[], index: readonly Bit[]): Wire {
  assert(numbers.length === 2 ** index.length, 'select: expected 2^n numbers for n bits');
  let left = [...numbers];
  for (const bit of index.toReversed()) {
    const half = left.length / 2;
    left = left.slice(0, half).map((low, i) => pick(cs, bit, left[half + i] as Wire, low));
  }
  return left[0] as Wire;
}
