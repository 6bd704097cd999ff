import type { Command } from 'commander';
import { CIRCUIT_KINDS, type CircuitKind, programOf } from '../circuits/filecoin/circuits.ts';
import { SECTOR_SIZES, type SectorSize, sectorConfig } from '../circuits/filecoin/sector-size.ts';
import { Pacer } from '../math/pacer.ts';
import { type Program, readProgram } from '../r1cs/program.ts';
import { hashRows } from '../r1cs/program-hashes.ts';
import { countBits, countsOf, densitiesOf } from '../r1cs/program-shape.ts';
import { type Io, writeFields, writeJson } from './io.ts';
import { document } from './manual.ts';
import { jsonOption } from './options.ts';
import type { Act } from './program.ts';
import { withProgress } from './progress.ts';
import { EXIT } from './report.ts';
import type { CallHooks } from './wiring.ts';

interface ShapeOptions {
  readonly circuit: CircuitKind;
  readonly sectorSize: SectorSize;
  readonly counts?: true;
  readonly json?: true;
}

/** What a command prints, by name. */
type Facts = Readonly<Record<string, string | number | readonly (string | number)[]>>;

export function defineCircuit(program: Command, act: Act): void {
  const circuit = document(program.command('circuit'), {
    summary: "look into Filecoin's circuits",
    about: `
      The circuits that this program proves for Filecoin, as numbers and digests that others can
      compare with their own.`,
    examples: [['proofline circuit shape --circuit porep --sector-size 2KiB', 'counts and digest']],
  });
  defineShape(circuit, act);
}

function defineShape(circuit: Command, act: Act): void {
  const command = document(circuit.command('shape'), {
    summary: 'counts and digest of a circuit',
    about: `
      Counts of one partition's circuit, how many variables its matrices use, and the SHA-256 of all
      its rows. Circuits of 32 and 64 GiB have a hundred million rows: their digest takes minutes,
      unless only the --counts are asked for.`,
    examples: [
      [
        'proofline circuit shape --circuit winning-post --sector-size 32GiB --json',
        'for a program',
      ],
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

async function shape(options: ShapeOptions, io: Io): Promise<number> {
  const facts = await withProgress(io, 'laying out the circuit', async (hooks) => {
    const program = readProgram(programOf(options.circuit, sectorConfig(options.sectorSize)));
    return shapeOf(program, options.counts === true, hooks);
  });
  show(facts, options.json === true, io);
  return EXIT.done;
}

async function shapeOf(program: Program, countsOnly: boolean, hooks: CallHooks): Promise<Facts> {
  const pacer = new Pacer(hooks.signal);
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
    ...(!countsOnly && { r1cs_rows_sha256: await hashRows(program, pacer, hooks.onProgress) }),
  };
}

function show(facts: Facts, json: boolean, io: Io): void {
  if (json) writeJson(io, facts);
  else
    writeFields(
      io,
      Object.entries(facts).map(([name, value]) => [name, String(value)]),
    );
}
