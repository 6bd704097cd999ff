import { describe, expect, it } from 'vitest';
import { publicInputsOf } from '../../../../src/circuits/filecoin/public-inputs.ts';
import { readPrivateInputs } from '../../../../src/formats/vanilla-inputs.ts';
import { hashEvaluations, hashWitness } from '../../../../src/r1cs/program-hashes.ts';
import { assign } from '../../../../src/r1cs/program-witness.ts';
import {
  GOLDEN_PROOFS,
  goldenJson,
  goldenStatement,
  programFor,
  vanillaFiles,
} from '../../../support/vanilla.ts';
import { quietPacer } from '../harness.ts';

describe.each(GOLDEN_PROOFS)('$name', (proof) => {
  const statement = goldenStatement(proof.name);
  const program = () => programFor(statement.kind, statement.proof.sectorSize);

  it.each(Object.entries(proof.partitions))('partition %s is the reference’s', async (k, file) => {
    const golden = goldenJson(file);
    const files = vanillaFiles(proof);
    const inputs = await readPrivateInputs(statement, files, Number(k), quietPacer());
    const assignment = await assign(program(), inputs, quietPacer());
    const publics = publicInputsOf(statement, Number(k));
    expect([1n, ...publics].map(hex)).toEqual(golden.inputs_hex);
    expect(await hashWitness(assignment, quietPacer())).toBe(golden.witness_sha256);
    expect(await hashEvaluations(program(), assignment, quietPacer())).toEqual({
      a: golden.a_evals_sha256,
      b: golden.b_evals_sha256,
      c: golden.c_evals_sha256,
      satisfied: true,
    });
  });
});

function hex(value: bigint): string {
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse().toString('hex');
}
