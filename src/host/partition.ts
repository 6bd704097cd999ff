import { programOf } from '../circuits/filecoin/circuits.ts';
import { partitionsOf, publicInputsOf } from '../circuits/filecoin/public-inputs.ts';
import { sectorConfig } from '../circuits/filecoin/sector-size.ts';
import type { Statement } from '../circuits/filecoin/statement.ts';
import { writeBigIntLE } from '../core/bytes.ts';
import { formatError } from '../core/errors.ts';
import { type ByteSource, openFile } from '../core/source.ts';
import { readJson } from '../formats/snarkjs-json.ts';
import { parseStatement } from '../formats/statement.ts';
import { readPrivateInputs, type VanillaOptions } from '../formats/vanilla-inputs.ts';
import type { ProvingKeySource } from '../groth16/types.ts';
import type { FrCanonicalLE } from '../math/curve.ts';
import { Pacer } from '../math/pacer.ts';
import { readProgram } from '../r1cs/program.ts';
import { countsOf } from '../r1cs/program-shape.ts';
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
  static async read(
    source: PartitionSource,
    signal: AbortSignal,
    options: VanillaOptions = {},
  ): Promise<Partition> {
    const statement = await readStatement(source.statement, signal);
    const files: ByteSource[] = [];
    try {
      for (const { path, sha256 } of source.vanilla) {
        if (sha256 !== undefined) await checkDigest(path, sha256, signal);
        files.push(await openFile(path));
      }
      const { partition } = source;
      const pacer = new Pacer(signal);
      const inputs = await readPrivateInputs(statement, files, partition, pacer, options);
      return new Partition(statement, partition, inputs);
    } finally {
      for (const file of files) await file[Symbol.asyncDispose]();
    }
  }

  /** @throws ERR_FORMAT for a key of another circuit */
  assignment(key: ProvingKeySource, programs: Programs): Assignment {
    const { kind, proof } = this.#statement;
    const { bytes: program, inputs, aux } = programs.get(this.circuit);
    if (key.curve !== 'bls12-381' || key.inputCount !== inputs || key.auxCount !== aux) {
      const expected = `that of ${kind} with sectors of ${proof.sectorSize}`;
      throw formatError('key', expected, `another circuit's`);
    }
    const publicInputs = publicInputsOf(this.#statement, this.#partition);
    return {
      input: { kind: 'program', program, privateInputs: this.#privateInputs },
      publicInputs: publicInputs.map((value) => writeBigIntLE(value, 32) as FrCanonicalLE),
      [Symbol.asyncDispose]: async () => {},
    };
  }

  get circuit(): Circuit {
    const { kind, proof } = this.#statement;
    return { kind, sectorSize: proof.sectorSize };
  }
}

async function readStatement(file: StatementSource, signal: AbortSignal): Promise<Statement> {
  if ('value' in file) return parseStatement(file.value);
  if (file.sha256 !== undefined) await checkDigest(file.path, file.sha256, signal);
  await using source = await openFile(file.path);
  return parseStatement(await readJson(source));
}

export type Circuit = Pick<StatementFacts, 'kind' | 'sectorSize'>;

interface LaidOut {
  readonly bytes: Uint8Array;
  readonly inputs: number;
  readonly aux: number;
}

/** Circuits that were laid out; those of 32 GiB take seconds, and megabytes. */
export class Programs {
  readonly #programs = new Map<string, LaidOut>();

  has({ kind, sectorSize }: Circuit): boolean {
    return this.#programs.has(`${kind} ${sectorSize}`);
  }

  get({ kind, sectorSize }: Circuit): LaidOut {
    const name = `${kind} ${sectorSize}`;
    const known = this.#programs.get(name);
    if (known !== undefined) return known;
    const bytes = programOf(kind, sectorConfig(sectorSize));
    const { inputs, aux } = countsOf(readProgram(bytes));
    const program = { bytes, inputs, aux };
    this.#programs.set(name, program);
    return program;
  }
}
