import { expect, it } from 'vitest';
import { AUX } from '../../../../src/r1cs/program-instances.ts';
import { freeVariables, record, run, sampleBits, sampleScalars } from '../harness.ts';
import { allocateOperands, CASES, type GadgetCase } from './cases.ts';

/** The same wires as others have, again and again. */
const LARGE = /label|apex|of 24|of 36|of 64 bytes|of 128 bytes|512MiB|32GiB/;
/** Either value of a bit is right; and a constant hash has no wires. */
const NOTHING_WRONG = ['bit', 'sha256 of no bytes'];

const sound = Object.entries(CASES).filter(
  ([name]) => !LARGE.test(name) && !NOTHING_WRONG.includes(name),
);

it.each(sound)('%s: a wrong value of any own wire is refused', async (_, gadget) => {
  const recorded = record((cs) => gadget.build(cs, allocateOperands(cs, gadget.operands)));
  const { program } = recorded;
  const operands = operandValues(gadget);
  // Bits and siblings of paths: bits will do for both.
  const own = sampleBits('own', program.root.hints - operands.length);
  const { assignment } = await run(recorded, [...operands, ...own]);
  const free = await freeVariables(program, assignment);
  expect(free.filter((code) => code < AUX || code >= AUX + operands.length)).toEqual([]);
});

function operandValues({ operands }: GadgetCase): bigint[] {
  return [...operands].flatMap((kind, i) => {
    if (kind === 'T' || kind === 'F') return [];
    return kind === '#' ? sampleScalars(`number ${i}`, 1) : sampleBits(`bit ${i}`, 1);
  });
}
