import type { Command } from 'commander';
import { nativeSynthesis, type Synthesize } from '../../backends/cpu/synthesis.ts';
import { CIRCUIT_KINDS, type CircuitKind, programOf } from '../circuits/filecoin/circuits.ts';
import { publicInputsOf } from '../circuits/filecoin/public-inputs.ts';
import { SECTOR_SIZES, type SectorSize, sectorConfig } from '../circuits/filecoin/sector-size.ts';
import type { Statement } from '../circuits/filecoin/statement.ts';
import { assert } from '../core/assert.ts';
import { readBigIntLE, toHex, writeBigIntLE } from '../core/bytes.ts';
import { formatError } from '../core/errors.ts';
import { type ByteSource, openFile } from '../core/source.ts';
import { readJson } from '../formats/snarkjs-json.ts';
import { parseStatement } from '../formats/statement.ts';
import { readPrivateInputs } from '../formats/vanilla-inputs.ts';
import { Pacer } from '../math/pacer.ts';
import { CompactVector, hashCompact } from '../r1cs/compact-vector.ts';
import { type Program, readProgram } from '../r1cs/program.ts';
import { hashEvaluations, hashRows, hashScalars, hashWitness } from '../r1cs/program-hashes.ts';
import { countBits, countsOf, densitiesOf } from '../r1cs/program-shape.ts';
import { assign, firstFailed, nameOfConstraint } from '../r1cs/program-witness.ts';
import { type Io, writeFields, writeJson } from './io.ts';
import { document } from './manual.ts';
import { flagsOf, jsonOption, usage } from './options.ts';
import type { Act } from './program.ts';
import { withProgress } from './progress.ts';
import { EXIT } from './report.ts';
import type { Wiring } from './wiring.ts';

interface ShapeOptions {
  readonly circuit: CircuitKind;
  readonly sectorSize: SectorSize;
  readonly counts?: true;
  readonly json?: true;
}

type HashOptions = Readonly<Record<string, unknown>> & {
  readonly vanilla: readonly string[];
  readonly statement: string;
  readonly partition: string;
  readonly json?: true;
};

/** What a command prints, by name. */
type Facts = Readonly<Record<string, unknown>>;

/** Public inputs that are printed one by one; WindowPoSt of full sectors has more. */
const SHOWN_INPUTS_MAX = 1000;
const SCALAR_BYTES = 32;

export function defineCircuit(program: Command, act: Act): void {
  const circuit = document(program.command('circuit'), {
    summary: "look into Filecoin's circuits",
    about: `
      The circuits that this program proves for Filecoin, as numbers and digests that others can
      compare with their own.`,
    examples: [
      ['proofline circuit shape --circuit porep --sector-size 2KiB', 'counts and digest'],
      [
        'proofline circuit hash --statement s.json --vanilla c1.json',
        "a vanilla proof's witness, checked",
      ],
    ],
  });
  defineShape(circuit, act);
  defineHash(circuit, act);
}

function defineShape(circuit: Command, act: Act): void {
  const command = document(circuit.command('shape'), {
    summary: 'counts and digest of a circuit',
    about: `
      Counts of one partition's circuit, how many variables its matrices use, and the SHA-256 of all
      its rows. Circuits of 32 and 64 GiB have a hundred million rows: their digest takes minutes,
      unless only the --counts are asked for.`,
    examples: [
      ['proofline circuit shape --circuit winning-post --sector-size 32GiB --json', 'for programs'],
      ['proofline circuit shape --circuit porep --sector-size 64GiB --counts', 'in seconds'],
    ],
  });
  command
    .addOption(
      command
        .createOption('--circuit <name>', 'which circuit')
        .choices(CIRCUIT_KINDS)
        .makeOptionMandatory(),
    )
    .addOption(
      command
        .createOption('--sector-size <size>', 'of which sectors')
        .choices(SECTOR_SIZES)
        .makeOptionMandatory(),
    )
    .option('--counts', 'leave the digest of the rows out')
    .addOption(jsonOption())
    .action((options: ShapeOptions) => act((_, io) => shape(options, io)));
}

function defineHash(circuit: Command, act: Act): void {
  document(circuit.command('hash'), {
    summary: "digests of a vanilla proof's witness",
    about: `
      Checks a vanilla proof against what it is to prove, and prints the SHA-256 of the circuit's
      rows, of its witness and of the rows' evaluations. Nothing is proved. The statement is a JSON
      file with the chain's own values. Meant for small sectors: a partition of 32 GiB takes many
      minutes.`,
    examples: [
      [
        'proofline circuit hash --statement s.json --vanilla c1.json --json',
        'PoRep, the output of its first phase',
      ],
      [
        'proofline circuit hash --statement s.json --vanilla sector1.bin sector2.bin --partition 0',
        'WindowPoSt, a file for each sector',
      ],
    ],
  })
    .requiredOption('--vanilla <file...>', 'vanilla proofs, bincode or JSON')
    .requiredOption('--statement <file>', 'what they prove, JSON')
    .option('--partition <number>', 'which partition', '0')
    .addOption(jsonOption())
    .action((options: HashOptions) => act((wiring, io) => hash(options, wiring, io)));
}

async function shape(options: ShapeOptions, io: Io): Promise<number> {
  const facts = await withProgress(io, 'laying out the circuit', async (hooks) => {
    const program = readProgram(programOf(options.circuit, sectorConfig(options.sectorSize)));
    const pacer = new Pacer(hooks.signal);
    const counts = await shapeOf(program, pacer);
    if (options.counts === true) return counts;
    return { ...counts, r1cs_rows_sha256: await hashRows(program, pacer, hooks.onProgress) };
  });
  show(facts, options.json === true, io);
  return EXIT.done;
}

async function hash(options: HashOptions, wiring: Wiring, io: Io): Promise<number> {
  if (!/^\d{1,4}$/.test(options.partition)) {
    throw usage('--partition', 'a number', options.partition);
  }
  const partition = Number(options.partition);
  const statement = await readStatement(options.statement);
  const privateInputs = await withFiles(options.vanilla, (files) =>
    withProgress(io, 'checking the vanilla proof', ({ signal }) =>
      readPrivateInputs(statement, files, partition, new Pacer(signal)),
    ),
  );
  const config = sectorConfig(statement.proof.sectorSize);
  const program = programOf(statement.kind, config);
  const synthesize = nativeSynthesis(wiring.config(flagsOf(options)).threads);
  const values =
    synthesize === undefined
      ? await valuesOf(readProgram(program), privateInputs, io)
      : await nativeValuesOf(program, privateInputs, synthesize, io);
  checkPublicInputs(values.inputs, publicInputsOf(statement, partition));
  show(await factsOf(readProgram(program), values, io), options.json === true, io);
  return EXIT.done;
}

async function readStatement(path: string): Promise<Statement> {
  await using source = await openFile(path);
  return parseStatement(await readJson(source));
}

async function withFiles<T>(
  paths: readonly string[],
  work: (files: readonly ByteSource[]) => Promise<T>,
): Promise<T> {
  const files: ByteSource[] = [];
  try {
    for (const path of paths) files.push(await openFile(path));
    return await work(files);
  } finally {
    for (const file of files) await file[Symbol.asyncDispose]();
  }
}

/** Vanilla proofs were checked: the circuit computes what a verifier derives. */
function checkPublicInputs(inputs: readonly bigint[], derived: readonly bigint[]): void {
  assert(inputs.length === derived.length + 1, 'public inputs: expected as many as derived');
  for (const [i, value] of derived.entries()) {
    assert(inputs[i + 1] === value, `public input ${i}: expected the derived one`);
  }
}

async function shapeOf(program: Program, pacer: Pacer): Promise<Facts> {
  const counts = countsOf(program);
  const { a, b } = await densitiesOf(program, pacer);
  return {
    aux: counts.aux,
    constraints: counts.constraints,
    dA: countBits(a.aux),
    dB: countBits(b.aux),
    dBin: countBits(b.inputs),
    domain: counts.domain,
    inputs: counts.inputs,
    nnz_incl_input_rows: counts.nonZero,
    rows: counts.rows,
  };
}

/** What a circuit's private inputs come to. */
interface Values {
  /** 1 first. */
  readonly inputs: readonly bigint[];
  readonly hashes: Readonly<Record<'a' | 'b' | 'c' | 'witness', string>>;
}

async function valuesOf(program: Program, privateInputs: Uint8Array, io: Io): Promise<Values> {
  const assignment = await withProgress(io, 'computing the witness', ({ signal, onProgress }) =>
    assign(program, privateInputs, new Pacer(signal), onProgress),
  );
  return await withProgress(io, 'evaluating the rows', async ({ signal, onProgress }) => {
    const pacer = new Pacer(signal);
    const { a, b, c, satisfied } = await hashEvaluations(program, assignment, pacer, onProgress);
    if (!satisfied) {
      const failed = await firstFailed(program, assignment, pacer);
      assert(failed !== undefined, 'circuit: expected the constraint that did not hold before');
      throw unsatisfied(failed);
    }
    return {
      inputs: Array.from({ length: assignment.inputs.length }, (_, i) =>
        BigInt(assignment.inputs.get(i)),
      ),
      hashes: { a, b, c, witness: await hashWitness(assignment, pacer) },
    };
  });
}

async function nativeValuesOf(
  program: Uint8Array,
  privateInputs: Uint8Array,
  synthesize: Synthesize,
  io: Io,
): Promise<Values> {
  return await withProgress(io, 'computing the witness', async ({ signal }) => {
    const made = await synthesize(program, privateInputs, { c: true, signal });
    if (made.failed !== undefined) throw unsatisfied(made.failed);
    const { witness, a, b, c } = made;
    assert(c !== undefined, 'synthesis: expected the values of C');
    const pacer = new Pacer(signal);
    const hash = (bytes: Uint8Array) => hashCompact(new CompactVector(bytes), pacer);
    const hashes = {
      ...{ a: await hash(a), b: await hash(b), c: await hash(c) },
      witness: await hash(witness),
    };
    const inputs = new Uint8Array(SCALAR_BYTES * countsOf(readProgram(program)).inputs);
    new CompactVector(witness).expand(0, inputs);
    return {
      inputs: Array.from({ length: inputs.length / SCALAR_BYTES }, (_, i) =>
        readBigIntLE(inputs.subarray(i * SCALAR_BYTES, (i + 1) * SCALAR_BYTES)),
      ),
      hashes,
    };
  });
}

async function factsOf(program: Program, { inputs, hashes }: Values, io: Io): Promise<Facts> {
  return await withProgress(io, 'hashing the rows', async ({ signal, onProgress }) => {
    const pacer = new Pacer(signal);
    return {
      ...(await shapeOf(program, pacer)),
      a_evals_sha256: hashes.a,
      b_evals_sha256: hashes.b,
      c_evals_sha256: hashes.c,
      ...(inputs.length <= SHOWN_INPUTS_MAX && { inputs_hex: inputs.map(hexOf) }),
      public_inputs_sha256: hashScalars(inputs),
      r1cs_rows_sha256: await hashRows(program, pacer, onProgress),
      witness_sha256: hashes.witness,
    };
  });
}

function unsatisfied(failed: Parameters<typeof nameOfConstraint>[0]) {
  return formatError(nameOfConstraint(failed), 'values that satisfy it', 'others');
}

function hexOf(value: bigint): string {
  return toHex(writeBigIntLE(value, SCALAR_BYTES));
}

function show(facts: Facts, json: boolean, io: Io): void {
  if (json) writeJson(io, facts);
  else
    writeFields(
      io,
      Object.entries(facts).map(([name, value]) => [name, String(value)]),
    );
}
