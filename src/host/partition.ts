import type { PartitionInput, ScalarVector } from '../backend/backend.ts';
import { type CircuitKind, programOf } from '../circuits/filecoin/circuits.ts';
import { partitionsOf, publicInputsOf } from '../circuits/filecoin/public-inputs.ts';
import { type SectorSize, sectorConfig } from '../circuits/filecoin/sector-size.ts';
import type { Statement } from '../circuits/filecoin/statement.ts';
import { writeBigIntLE } from '../core/bytes.ts';
import { formatError, ProverError } from '../core/errors.ts';
import { type ByteSource, openFile } from '../core/source.ts';
import { readJson } from '../formats/snarkjs-json.ts';
import { parseStatement } from '../formats/statement.ts';
import { readPrivateInputs } from '../formats/vanilla-inputs.ts';
import type { ProvingKeySource } from '../groth16/types.ts';
import type { FrCanonicalLE } from '../math/curve.ts';
import { Pacer } from '../math/pacer.ts';
import { type Program, readProgram } from '../r1cs/program.ts';
import { countsOf, densitiesOf } from '../r1cs/program-shape.ts';
import { canonical, type Scalar } from '../r1cs/program-values.ts';
import { assign, evaluate, firstFailed, nameOfConstraint } from '../r1cs/program-witness.ts';
import type { Assignment } from './assignment.ts';
import { checkDigest } from './digest.ts';
import type { PartitionSource, StatementFacts, StatementSource } from './protocol.ts';

/** What the service has to know of a statement. @throws ERR_FORMAT */
export async function statementFacts(
  source: StatementSource,
  signal: AbortSignal,
): Promise<StatementFacts> {
  const statement = await readStatement(source, signal);
  const { kind, proof } = statement;
  return {
    kind,
    sectorSize: proof.sectorSize,
    registeredProof: proof.name,
    partitions: partitionsOf(statement),
    aggregates: proof.feature === 'non-interactive',
  };
}

/** Reads and checks a partition's vanilla proofs. */
export class Partition {
  readonly #statement: Statement;
  readonly #partition: number;
  readonly #privateInputs: Uint8Array;

  private constructor(statement: Statement, partition: number, privateInputs: Uint8Array) {
    this.#statement = statement;
    this.#partition = partition;
    this.#privateInputs = privateInputs;
  }

  /** @throws ERR_FORMAT naming sector, partition and challenge, ERR_PAYLOAD_CORRUPT */
  static async read(source: PartitionSource, signal: AbortSignal): Promise<Partition> {
    const statement = await readStatement(source.statement, signal);
    const files: ByteSource[] = [];
    try {
      for (const { path, sha256 } of source.vanilla) {
        if (sha256 !== undefined) await checkDigest(path, sha256, signal);
        files.push(await openFile(path));
      }
      const { partition } = source;
      const inputs = await readPrivateInputs(statement, files, partition, new Pacer(signal));
      return new Partition(statement, partition, inputs);
    } finally {
      for (const file of files) await file[Symbol.asyncDispose]();
    }
  }

  /** @throws ERR_FORMAT for a key of another circuit, ERR_WITNESS_UNSATISFIED */
  async assignment(
    key: ProvingKeySource,
    programs: Programs,
    signal: AbortSignal,
  ): Promise<Assignment> {
    const { kind, proof } = this.#statement;
    const program = programs.get(kind, proof.sectorSize);
    const { inputs, aux } = countsOf(program);
    if (key.curve !== 'bls12-381' || key.inputCount !== inputs || key.auxCount !== aux) {
      const expected = `that of ${kind} with sectors of ${proof.sectorSize}`;
      throw formatError('key', expected, `another circuit's`);
    }
    const publicInputs = publicInputsOf(this.#statement, this.#partition);
    return {
      input: await evaluated(program, this.#privateInputs, new Pacer(signal)),
      publicInputs: publicInputs.map((value) => writeBigIntLE(value, 32) as FrCanonicalLE),
      [Symbol.asyncDispose]: async () => {},
    };
  }
}

async function readStatement(file: StatementSource, signal: AbortSignal): Promise<Statement> {
  if ('value' in file) return parseStatement(file.value);
  if (file.sha256 !== undefined) await checkDigest(file.path, file.sha256, signal);
  await using source = await openFile(file.path);
  return parseStatement(await readJson(source));
}

/** Circuits that were laid out; those of 32 GiB take seconds, and megabytes. */
export class Programs {
  readonly #programs = new Map<string, Program>();

  get(kind: CircuitKind, size: SectorSize): Program {
    const name = `${kind} ${size}`;
    const known = this.#programs.get(name);
    if (known !== undefined) return known;
    const program = readProgram(programOf(kind, sectorConfig(size)));
    this.#programs.set(name, program);
    return program;
  }
}

async function evaluated(
  program: Program,
  privateInputs: Uint8Array,
  pacer: Pacer,
): Promise<PartitionInput> {
  const values = await assign(program, privateInputs, pacer);
  const { inputs, aux, rows } = countsOf(program);
  const [witness, a, b] = [new Scalars(inputs + aux), new Scalars(rows), new Scalars(rows)];
  for (let i = 0; i < inputs; i++) witness.push(values.inputs.get(i));
  for (let i = 0; i < aux; i++) witness.push(values.aux.get(i));
  const push = (left: Scalar, right: Scalar) => {
    a.push(left);
    b.push(right);
  };
  await evaluate(program, values, push, pacer);
  for (let i = 0; i < inputs; i++) push(values.inputs.get(i), 0);
  const failed = await firstFailed(program, values, pacer);
  if (failed !== undefined) {
    const detail = `${nameOfConstraint(failed)} does not hold`;
    throw new ProverError('ERR_WITNESS_UNSATISFIED', { detail });
  }
  const density = await densitiesOf(program, pacer);
  return {
    kind: 'evaluated',
    witness: witness.vector,
    a: a.vector,
    b: b.vector,
    aAuxDensity: bitsOf(density.a.aux, aux),
    bInputDensity: bitsOf(density.b.inputs, inputs),
    bAuxDensity: bitsOf(density.b.aux, aux),
  };
}

/** Scalars of 32 bytes, canonical little-endian, one after another. */
class Scalars {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(n: number) {
    this.#bytes = new Uint8Array(32 * n);
  }

  push(value: Scalar): void {
    if (value === 1) this.#bytes[this.#at] = 1;
    else if (value !== 0) this.#bytes.set(writeBigIntLE(canonical(value), 32), this.#at);
    this.#at += 32;
  }

  get vector(): ScalarVector {
    return { n: this.#bytes.length / 32, bytes: this.#bytes };
  }
}

/** The first `n` bits. */
function bitsOf(words: Uint32Array, n: number): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, Math.ceil(n / 8));
}
