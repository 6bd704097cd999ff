import { AUX } from '../../../../src/r1cs/program-instances.ts';
import { freeVariables, record, run, sampleBits, sampleScalars } from '../harness.ts';
import { allocateOperands, CASES, type GadgetCase } from './cases.ts';

/** The same wires as others have, again and again: test/large. */
const LARGE = /label|apex|of 24|of 36|of 64 bytes|of 128 bytes|512MiB|32GiB/;
/** Either value of a bit is right; and a constant hash has no wires. */
const NOTHING_WRONG = ['bit', 'sha256 of no bytes'];

const GADGETS = Object.entries(CASES).filter(([name]) => !NOTHING_WRONG.includes(name));
export const SMALL_GADGETS = GADGETS.filter(([name]) => !LARGE.test(name));
export const LARGE_GADGETS = GADGETS.filter(([name]) => LARGE.test(name));

/** The gadget's own wires, outputs included, that may take a wrong value by themselves. */
export async function freeWiresOf(gadget: GadgetCase): Promise<number[]> {
  const recorded = record((cs) => gadget.build(cs, allocateOperands(cs, gadget.operands)));
  const { program } = recorded;
  const operands = operandValues(gadget);
  // Bits and siblings of paths: bits will do for both.
  const own = sampleBits('own', program.root.hints - operands.length);
  const { assignment } = await run(recorded, [...operands, ...own]);
  const free = await freeVariables(program, assignment);
  return free.filter((code) => code < AUX || code >= AUX + operands.length);
}

function operandValues({ operands }: GadgetCase): bigint[] {
  return [...operands].flatMap((kind, i) => {
    if (kind === 'T' || kind === 'F') return [];
    return kind === '#' ? sampleScalars(`number ${i}`, 1) : sampleBits(`bit ${i}`, 1);
  });
}
