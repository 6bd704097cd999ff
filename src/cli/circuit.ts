import type { Command } from 'commander';
import { CIRCUIT_KINDS, type CircuitKind, programOf } from '../circuits/filecoin/circuits.ts';
import { publicInputsOf } from '../circuits/filecoin/public-inputs.ts';
import { SECTOR_SIZES, type SectorSize, sectorConfig } from '../circuits/filecoin/sector-size.ts';
import type { Statement } from '../circuits/filecoin/statement.ts';
import { assert } from '../core/assert.ts';
import { toHex, writeBigIntLE } from '../core/bytes.ts';
import { formatError } from '../core/errors.ts';
import { type ByteSource, openFile } from '../core/source.ts';
import { readJson } from '../formats/snarkjs-json.ts';
import { parseStatement } from '../formats/statement.ts';
import { readPrivateInputs } from '../formats/vanilla-inputs.ts';
import { Pacer } from '../math/pacer.ts';
import { type Program, readProgram } from '../r1cs/program.ts';
import { hashEvaluations, hashRows, hashScalars, hashWitness } from '../r1cs/program-hashes.ts';
import { countBits, countsOf, densitiesOf } from '../r1cs/program-shape.ts';
import type { Assignment, Scalar } from '../r1cs/program-values.ts';
import { assign, firstFailed, nameOfConstraint } from '../r1cs/program-witness.ts';
import { type Io, writeFields, writeJson } from './io.ts';
import { document } from './manual.ts';
import { jsonOption, usage } from './options.ts';
import type { Act } from './program.ts';
import { withProgress } from './progress.ts';
import { EXIT } from './report.ts';

interface ShapeOptions {
  readonly circuit: CircuitKind;
  readonly sectorSize: SectorSize;
  readonly counts?: true;
  readonly json?: true;
}

interface HashOptions {
  readonly vanilla: readonly string[];
  readonly statement: string;
  readonly partition: string;
  readonly json?: true;
}

/** What a command prints, by name. */
type Facts = Readonly<Record<string, unknown>>;

/** Public inputs that are printed one by one; WindowPoSt of full sectors has more. */
const SHOWN_INPUTS_MAX = 1000;

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
    .action((options: HashOptions) => act((_, io) => hash(options, io)));
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

async function hash(options: HashOptions, io: Io): Promise<number> {
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
  const program = readProgram(programOf(statement.kind, config));
  const assignment = await withProgress(io, 'computing the witness', ({ signal, onProgress }) =>
    assign(program, privateInputs, new Pacer(signal), onProgress),
  );
  checkPublicInputs(assignment, publicInputsOf(statement, partition));
  show(await hashesOf(program, assignment, io), options.json === true, io);
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
function checkPublicInputs({ inputs }: Assignment, derived: readonly bigint[]): void {
  assert(inputs.length === derived.length + 1, 'public inputs: expected as many as derived');
  for (const [i, value] of derived.entries()) {
    assert(BigInt(inputs.get(i + 1)) === value, `public input ${i}: expected the derived one`);
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

async function hashesOf(program: Program, assignment: Assignment, io: Io): Promise<Facts> {
  const hashes = await withProgress(io, 'evaluating the rows', ({ signal, onProgress }) =>
    hashEvaluations(program, assignment, new Pacer(signal), onProgress),
  );
  if (!hashes.satisfied) throw await unsatisfied(program, assignment, io.interrupt);
  return await withProgress(io, 'hashing the rows', async ({ signal, onProgress }) => {
    const pacer = new Pacer(signal);
    const inputs = Array.from({ length: assignment.inputs.length }, (_, i) =>
      assignment.inputs.get(i),
    );
    return {
      ...(await shapeOf(program, pacer)),
      a_evals_sha256: hashes.a,
      b_evals_sha256: hashes.b,
      c_evals_sha256: hashes.c,
      ...(inputs.length <= SHOWN_INPUTS_MAX && { inputs_hex: inputs.map(hexOf) }),
      public_inputs_sha256: hashScalars(inputs),
      r1cs_rows_sha256: await hashRows(program, pacer, onProgress),
      witness_sha256: await hashWitness(assignment, pacer),
    };
  });
}

async function unsatisfied(program: Program, assignment: Assignment, signal: AbortSignal) {
  const failed = await firstFailed(program, assignment, new Pacer(signal));
  assert(failed !== undefined, 'circuit: expected the constraint that did not hold before');
  return formatError(nameOfConstraint(failed), 'values that satisfy it', 'others');
}

function hexOf(value: Scalar): string {
  return toHex(writeBigIntLE(BigInt(value), 32));
}

function show(facts: Facts, json: boolean, io: Io): void {
  if (json) writeJson(io, facts);
  else
    writeFields(
      io,
      Object.entries(facts).map(([name, value]) => [name, String(value)]),
    );
}
