import { nativeSynthesis } from '../../backends/cpu/synthesis.ts';
import { publicInputsOf } from '../../src/circuits/filecoin/public-inputs.ts';
import { readPrivateInputs } from '../../src/formats/vanilla-inputs.ts';
import { Pacer } from '../../src/math/pacer.ts';
import { CompactVector, hashCompact } from '../../src/r1cs/compact-vector.ts';
import { readProgram } from '../../src/r1cs/program.ts';
import { hashEvaluations, hashWitness } from '../../src/r1cs/program-hashes.ts';
import { assign } from '../../src/r1cs/program-witness.ts';
import { type GoldenProof, goldenStatement, programBytes, vanillaFiles } from './vanilla.ts';

const { signal } = new AbortController();
const synthesize = nativeSynthesis(2);

/** What golden files say of a witness. */
interface Hashes {
  readonly witness_sha256: string;
  readonly a_evals_sha256: string;
  readonly b_evals_sha256: string;
  readonly c_evals_sha256: string;
}

/** A partition's circuit and inputs, as TypeScript has them from the vanilla proof. */
export async function partitionOf(proof: GoldenProof, partition: number) {
  const statement = goldenStatement(proof.name);
  const files = vanillaFiles(proof);
  return {
    program: programBytes(statement.kind, statement.proof.sectorSize),
    privateInputs: await readPrivateInputs(statement, files, partition, new Pacer(signal)),
    /** As a verifier derives them, 1 first. */
    publicInputs: [1n, ...publicInputsOf(statement, partition)],
  };
}

type Partition = Awaited<ReturnType<typeof partitionOf>>;

/** By the interpreter of TypeScript. Undefined where a constraint does not hold. */
export async function hashesOf({ program, privateInputs }: Partition): Promise<Hashes | undefined> {
  const pacer = new Pacer(signal);
  const read = readProgram(program);
  const assignment = await assign(read, privateInputs, pacer);
  const { a, b, c, satisfied } = await hashEvaluations(read, assignment, pacer);
  if (!satisfied) return undefined;
  return {
    witness_sha256: await hashWitness(assignment, pacer),
    ...{ a_evals_sha256: a, b_evals_sha256: b, c_evals_sha256: c },
  };
}

export const withoutNativeSynthesis = synthesize === undefined;

/** The same by native code. */
export async function nativeHashesOf(partition: Partition): Promise<Hashes | undefined> {
  const { program, privateInputs } = partition;
  const made = await synthesize?.(program, privateInputs, { c: true, signal });
  if (made === undefined || made.failed !== undefined) return undefined;
  const hash = (bytes: Uint8Array | undefined) =>
    hashCompact(new CompactVector(bytes as Uint8Array), new Pacer(signal));
  return {
    witness_sha256: await hash(made.witness),
    a_evals_sha256: await hash(made.a),
    b_evals_sha256: await hash(made.b),
    c_evals_sha256: await hash(made.c),
  };
}
