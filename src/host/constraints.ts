import { formatError, ProverError } from '../core/errors.ts';
import { openFile } from '../core/source.ts';
import { readR1cs } from '../formats/r1cs.ts';
import { firstUnsatisfied } from '../r1cs/satisfaction.ts';
import { WitnessValues } from '../r1cs/witness-values.ts';
import type { Witness } from './witness.ts';

/**
 * Checks every constraint of a `.r1cs`. @throws ERR_CONSTRAINT_UNSATISFIED naming the first that
 * fails
 */
export async function checkConstraints(
  r1csPath: string,
  witness: Witness,
  signal: AbortSignal,
): Promise<void> {
  await using source = await openFile(r1csPath);
  const circuit = await readR1cs(source);
  const { wires } = witness;
  if (circuit.curve !== witness.curve || circuit.wireCount !== wires) {
    const expected = `a circuit of ${wires} wires over ${witness.curve}`;
    throw formatError(source.name, expected, `${circuit.wireCount} wires over ${circuit.curve}`);
  }
  const values = new WitnessValues(witness.source, witness.offset, wires);
  const index = await firstUnsatisfied(circuit, values, signal);
  if (index !== undefined) {
    throw new ProverError('ERR_CONSTRAINT_UNSATISFIED', { index, count: circuit.constraintCount });
  }
}
