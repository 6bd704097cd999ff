import { describe, expect, it } from 'vitest';
import { and, choose, majority, xor } from '../../../../src/circuits/gadgets/boolean.ts';
import { firstFailed } from '../../../../src/r1cs/program-witness.ts';
import type { Recorder } from '../../../../src/r1cs/recorder.ts';
import type { Bit } from '../../../../src/r1cs/recorder-signals.ts';
import { quietPacer, record, run } from '../harness.ts';
import { allocateOperands } from './cases.ts';

type Gadget = (cs: Recorder, ...bits: readonly Bit[]) => Bit;

const GADGETS: readonly (readonly [string, number, Gadget, (x: number[]) => number])[] = [
  ['xor', 2, xor as Gadget, ([x, y]) => (x as number) ^ (y as number)],
  ['and', 2, and as Gadget, ([x, y]) => (x as number) & (y as number)],
  ['choose', 3, choose as Gadget, ([x, y, z]) => (x === 1 ? y : z) as number],
  ['majority', 3, majority as Gadget, (bits) => (sum(bits) >= 2 ? 1 : 0)],
];

describe.each(GADGETS)('%s', (_, arity, gadget, expected) => {
  it.each(patterns(arity))('of %s is right for all values', async (operands) => {
    // One more variable, so that there is a circuit where all is constant.
    const recorded = record((cs) => {
      cs.allocate({ op: 'hint' });
      return gadget(cs, ...allocateOperands(cs, operands).bits);
    });
    const variable = [...operands].filter((kind) => kind === 'b' || kind === 'n').length;
    for (let values = 0; values < 2 ** variable; values++) {
      const hints = Array.from({ length: variable }, (_, i) => (values >> i) & 1);
      const { assignment, outputs } = await run(recorded, [0, ...hints].map(BigInt));
      expect(await firstFailed(recorded.program, assignment, quietPacer())).toBeUndefined();
      expect(outputs).toEqual([BigInt(expected(operandValues(operands, hints)))]);
    }
  });
});

/** All words of that length over the four kinds of operands. */
function patterns(arity: number): string[] {
  if (arity === 0) return [''];
  return patterns(arity - 1).flatMap((rest) => [...'bnTF'].map((kind) => kind + rest));
}

function operandValues(operands: string, hints: readonly number[]): number[] {
  const left = [...hints];
  return [...operands].map((kind) => {
    if (kind === 'T' || kind === 'F') return kind === 'T' ? 1 : 0;
    const value = left.shift() as number;
    return kind === 'n' ? 1 - value : value;
  });
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
