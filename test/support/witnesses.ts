import { publicInputsOf } from '../../src/circuits/filecoin/public-inputs.ts';
import { readPrivateInputs } from '../../src/formats/vanilla-inputs.ts';
import { Pacer } from '../../src/math/pacer.ts';
import { hashEvaluations, hashWitness } from '../../src/r1cs/program-hashes.ts';
import { assign } from '../../src/r1cs/program-witness.ts';
import { type GoldenProof, goldenStatement, programFor, vanillaFiles } from './vanilla.ts';

/** What golden files say of a partition's witness, as TypeScript has it from the vanilla proof. */
export async function witnessOf(proof: GoldenProof, partition: number) {
  const pacer = new Pacer(new AbortController().signal);
  const statement = goldenStatement(proof.name);
  const program = programFor(statement.kind, statement.proof.sectorSize);
  const inputs = await readPrivateInputs(statement, vanillaFiles(proof), partition, pacer);
  const assignment = await assign(program, inputs, pacer);
  const { a, b, c, satisfied } = await hashEvaluations(program, assignment, pacer);
  return {
    satisfied,
    /** As a verifier derives them, 1 first. */
    publicInputs: [1n, ...publicInputsOf(statement, partition)],
    hashes: {
      witness_sha256: await hashWitness(assignment, pacer),
      ...{ a_evals_sha256: a, b_evals_sha256: b, c_evals_sha256: c },
    },
  };
}
