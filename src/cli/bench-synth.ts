import { type Command, Option } from 'commander';
import { CIRCUIT_KINDS, type CircuitKind } from '../circuits/filecoin/circuits.ts';
import { SECTOR_SIZES, type SectorSize } from '../circuits/filecoin/sector-size.ts';
import { MIB } from '../core/units.ts';
import type { BenchSynthesisParams, BenchSynthesisResult } from '../host/protocol.ts';
import { type Io, plain, writeFields, writeJson } from './io.ts';
import { document } from './manual.ts';
import { flagsOf, jsonOption, settingOption, usage } from './options.ts';
import type { Act } from './program.ts';
import { withProgress } from './progress.ts';
import { EXIT } from './report.ts';
import type { Wiring } from './wiring.ts';

type Options = Readonly<Record<string, unknown>> & {
  readonly circuit?: CircuitKind;
  readonly sectorSize?: SectorSize;
  readonly statement?: string;
  readonly vanilla?: readonly string[];
  readonly partition: string;
  readonly expanded?: true;
  readonly runs: string;
  readonly json?: true;
};

export function defineBenchSynth(bench: Command, act: Act): void {
  document(bench.command('synth'), {
    summary: "time the synthesis of Filecoin's circuits",
    about: `
      The values of all variables of one partition's circuit, and of A and B in all its rows, by
      native code, with program and private inputs in memory. Private inputs are made up, unless
      there is a statement with its vanilla proofs; reading those is timed apart, as is laying the
      circuit out.`,
    examples: [
      ['proofline bench synth --circuit porep --sector-size 32GiB', '130 million rows'],
      [
        'proofline bench synth --statement s.json --vanilla c1.json --expanded --json',
        'of a real proof, into elements of 32 bytes',
      ],
    ],
  })
    .addOption(new Option('--circuit <name>', 'which circuit').choices(CIRCUIT_KINDS))
    .addOption(new Option('--sector-size <size>', 'of which sectors').choices(SECTOR_SIZES))
    .option('--statement <file>', 'what is proved, JSON, instead of a circuit')
    .option('--vanilla <file...>', 'its vanilla proofs')
    .option('--partition <number>', 'which partition of it', '0')
    .option('--expanded', 'into elements of 32 bytes, one vector after another')
    .option('--runs <count>', 'how often; the median counts', '3')
    .addOption(settingOption('threads'))
    .addOption(jsonOption())
    .action((options: Options) => act((wiring, io) => benchSynth(options, wiring, io)));
}

async function benchSynth(options: Options, wiring: Wiring, io: Io): Promise<number> {
  const flags = flagsOf(options);
  const params: BenchSynthesisParams = {
    of: subjectOf(options),
    expanded: options.expanded === true,
    threads: wiring.config(flags).threads,
    runs: wholeNumber('--runs', options.runs, 1),
  };
  await using engine = await wiring.openEngine(flags);
  const result = await withProgress(io, 'measuring', (hooks) =>
    engine.benchSynthesis(params, hooks),
  );
  if (options.json === true) writeJson(io, jsonOf(result));
  else writeFields(io, fieldsOf(result));
  return EXIT.done;
}

function subjectOf(options: Options): BenchSynthesisParams['of'] {
  const { circuit, sectorSize, statement, vanilla, partition } = options;
  if (statement !== undefined && vanilla !== undefined && circuit === undefined) {
    const number = wholeNumber('--partition', partition, 0);
    return { statementPath: statement, vanillaPaths: vanilla, partition: number };
  }
  if (circuit !== undefined && sectorSize !== undefined && statement === undefined) {
    return { kind: circuit, sectorSize };
  }
  const expected = '--circuit and --sector-size, or --statement and --vanilla';
  throw usage('bench synth', expected, 'another choice of options');
}

function wholeNumber(option: string, text: string, min: number): number {
  const number = /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min) return number;
  throw usage(option, `a whole number from ${min} to 9999`, plain(text));
}

function jsonOf(result: BenchSynthesisResult): object {
  return {
    circuit: result.circuit.kind,
    sector_size: result.circuit.sectorSize,
    constraints: result.constraints,
    expanded: result.expanded,
    threads: result.threads,
    cpu: result.cpu,
    runs: result.runs,
    seconds: result.seconds,
    parts_seconds: result.parts,
    layout_seconds: result.layoutSeconds,
    vanilla_seconds: result.vanillaSeconds,
    whole_seconds: result.wholeSeconds,
    peak_anonymous_bytes: result.peakBytes,
    whole_peak_anonymous_bytes: result.wholePeakBytes,
  };
}

function fieldsOf(result: BenchSynthesisResult): [string, string][] {
  const { circuit, constraints, threads, cpu, runs, expanded, parts } = result;
  const shown = Object.entries(parts).map(([name, seconds]) => `${name} ${seconds.toFixed(2)}`);
  return [
    ['circuit', `${circuit.kind} of ${circuit.sectorSize} sectors, ${constraints} constraints`],
    ['on', `${threads} threads of ${cpu}`],
    ['values', expanded ? 'elements of 32 bytes' : 'compact vectors'],
    ['seconds', `${result.seconds.toFixed(3)} (median of ${runs}: ${shown.join(', ')})`],
    ['whole', `${result.wholeSeconds.toFixed(3)} s with layout and vanilla proof`],
    ['memory', `${mebibytes(result.peakBytes)}, ${mebibytes(result.wholePeakBytes)} in the whole`],
  ];
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / MIB)} MiB`;
}
