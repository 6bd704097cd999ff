import { expect, it } from 'vitest';
import { readPrivateInputs } from '../../src/formats/vanilla-inputs.ts';
import { assign } from '../../src/r1cs/program-witness.ts';
import { goldenProof, goldenStatement, programFor, vanillaFiles } from '../support/vanilla.ts';
import { freeWiresOf, LARGE_GADGETS } from '../unit/circuits/gadgets/soundness.ts';
import { freeVariables, quietPacer } from '../unit/circuits/harness.ts';

it.each(LARGE_GADGETS)('%s: a wrong value of any own wire is refused', async (_, gadget) => {
  expect(await freeWiresOf(gadget)).toEqual([]);
});

it('WindowPoSt: a wrong value of any wire of the circuit is refused', async () => {
  const proof = goldenProof('window-2kib');
  const statement = goldenStatement('window-2kib');
  const program = programFor('window-post', '2KiB');
  const inputs = await readPrivateInputs(statement, vanillaFiles(proof), 0, quietPacer());
  const assignment = await assign(program, inputs, quietPacer());
  expect(await freeVariables(program, assignment)).toEqual([]);
});
