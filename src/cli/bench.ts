import { type Command, Option } from 'commander';
import { MIB } from '../core/units.ts';
import type { BenchPartsParams, BenchProveParams, BenchProveResult } from '../host/protocol.ts';
import type { CurveName } from '../math/curve.ts';
import { defineBenchSynth } from './bench-synth.ts';
import { type Io, plain, writeFields, writeJson } from './io.ts';
import { document } from './manual.ts';
import { backendOption, flagsOf, jsonOption, settingOption, usage } from './options.ts';
import type { Act } from './program.ts';
import { withProgress } from './progress.ts';
import { EXIT } from './report.ts';
import type { Wiring } from './wiring.ts';

const SIZE = /^(?:2\^(\d{1,2})|(\d{1,8}))$/;
const CONSTRAINTS_MAX = 2 ** 24;

type Options = Readonly<Record<string, unknown>> & {
  readonly curve: CurveName;
  readonly size: string;
  readonly r1cs?: string;
  readonly witness?: string;
  readonly backend?: BenchProveParams['backend'];
  readonly against?: 'snarkjs';
  readonly isa?: NonNullable<BenchProveParams['instructionSet']>;
  readonly runs: string;
  readonly json?: true;
};

export function defineBench(program: Command, act: Act): void {
  const bench = document(program.command('bench'), {
    summary: 'measure how fast this machine proves',
    about: `
      Checks each result before it times it. Ratios against a peer that is timed in the same run,
      turn by turn, mean more than seconds: machines differ and are shared.`,
    examples: [
      ['proofline bench prove --against snarkjs', 'a chain of 65000 squarings'],
      ['proofline bench prove --curve bls12-381 --size 260000', 'a larger one, BLS12-381'],
    ],
  });
  defineParts(bench, act, 'msm');
  defineParts(bench, act, 'ntt');
  defineBenchSynth(bench, act);
  document(bench.command('prove'), {
    summary: 'time whole proofs',
    about: `
      By default of a chain of squarings, whose values are full-size; by --r1cs and --witness of
      any circuit. The key is made once and kept in the folder for temporary files. Timed is the
      prover alone: key loaded, files cached, witness in memory, verification excluded.`,
    examples: [
      ['proofline bench prove --curve bn254 --size 65000 --against snarkjs', 'with a peer'],
      ['proofline bench prove --isa adx', 'without AVX-512'],
      ['proofline bench prove --r1cs sha.r1cs --witness sha.wtns --json', 'a circuit of your own'],
    ],
  })
    .addOption(
      new Option('--curve <name>', 'curve of the chain')
        .choices(['bn254', 'bls12-381'])
        .default('bn254'),
    )
    .option('--size <count>', 'constraints of the chain, for example 65000 or 2^16', '65000')
    .option('--r1cs <file>', 'constraints of a circuit, instead of the chain')
    .option('--witness <file>', 'a witness of that circuit, .wtns')
    .addOption(backendOption())
    .addOption(new Option('--against <peer>', 'prover to compare with').choices(['snarkjs']))
    .addOption(isaOption())
    .option('--runs <count>', 'proofs to time; the median counts', '5')
    .addOption(settingOption('threads'))
    .addOption(jsonOption())
    .action((options: Options) => act((wiring, io) => benchProve(options, wiring, io)));
}

type PartsOptions = Readonly<Record<string, unknown>> & {
  readonly curve: CurveName;
  readonly group?: 'G1' | 'G2';
  readonly size: string;
  readonly against?: 'blst';
  readonly isa?: NonNullable<BenchPartsParams['instructionSet']>;
  readonly runs: string;
  readonly json?: true;
};

function defineParts(bench: Command, act: Act, what: 'msm' | 'ntt'): void {
  const command = document(bench.command(what), {
    summary: what === 'msm' ? 'time multi-scalar multiplication' : 'time the transform over Fr',
    about: `
      Of random values, on the native backend. The result is checked before anything is timed.`,
    examples: [
      [`proofline bench ${what} --curve bls12-381 --size 2^18`, 'on all cores'],
      [`proofline bench ${what} --isa adx --threads 1 --json`, 'on one, without AVX-512'],
    ],
  })
    .addOption(
      new Option('--curve <name>', 'curve').choices(['bn254', 'bls12-381']).default('bls12-381'),
    )
    .option('--size <count>', 'a power of two, for example 2^16', '2^16')
    .addOption(isaOption());
  if (what === 'msm') {
    command
      .addOption(new Option('--group <name>', 'group').choices(['G1', 'G2']).default('G1'))
      .addOption(new Option('--against <peer>', 'code to compare with').choices(['blst']));
  }
  command
    .option('--runs <count>', 'how often; the median counts', '5')
    .addOption(settingOption('threads'))
    .addOption(jsonOption())
    .action((options: PartsOptions) => act((wiring, io) => benchParts(what, options, wiring, io)));
}

async function benchParts(
  what: 'msm' | 'ntt',
  options: PartsOptions,
  wiring: Wiring,
  io: Io,
): Promise<number> {
  const { curve, group, size, against, isa } = options;
  const logN = Math.log2(wholeNumber('--size', size, CONSTRAINTS_MAX));
  if (!Number.isInteger(logN)) throw usage('--size', 'a power of two', plain(size));
  const flags = flagsOf(options);
  await using engine = await wiring.openEngine(flags);
  const params: BenchPartsParams = {
    what,
    curve,
    logN,
    threads: wiring.config(flags).threads,
    runs: wholeNumber('--runs', options.runs, 1000),
    ...(group !== undefined && { group }),
    ...(against !== undefined && { against }),
    ...(isa !== undefined && { instructionSet: isa }),
  };
  const result = await withProgress(io, 'measuring', (hooks) => engine.benchParts(params, hooks));
  const { instructionSet, logN: log_n, peerSeconds, ...rest } = result;
  if (options.json === true) {
    const peer = peerSeconds === undefined ? {} : { peer_seconds: peerSeconds };
    writeJson(io, { ...rest, log_n, instruction_set: instructionSet, ...peer });
    return EXIT.done;
  }
  writeFields(io, [
    [what, `2^${log_n}, ${result.group ?? 'Fr'} of ${curve}`],
    ['on', `${instructionSet}, ${result.threads} threads of ${result.cpu}`],
    ['seconds', `${result.seconds.toFixed(4)} (median of ${result.runs})`],
    ...(result.peer === undefined
      ? []
      : [
          [result.peer, `${peerSeconds?.toFixed(4)} s`] as [string, string],
          ['ratio', `${result.ratio?.toFixed(2)} times as fast`] as [string, string],
        ]),
  ]);
  return EXIT.done;
}

function isaOption(): Option {
  return new Option('--isa <name>', 'best instructions that the native code may use').choices([
    'portable',
    'adx',
    'ifma',
  ]);
}

async function benchProve(options: Options, wiring: Wiring, io: Io): Promise<number> {
  const { backend, against, isa } = options;
  const flags = flagsOf(options);
  await using engine = await wiring.openEngine(flags);
  const params: BenchProveParams = {
    backend: backend ?? (await fastest(engine.probe())),
    threads: wiring.config(flags).threads,
    circuit: circuitOf(options),
    runs: wholeNumber('--runs', options.runs, 1000),
    ...(against !== undefined && { against }),
    ...(isa !== undefined && { instructionSet: isa }),
  };
  const what = 'measuring; a new key takes a while';
  const result = await withProgress(io, what, (hooks) => engine.benchProve(params, hooks));
  if (options.json === true) writeJson(io, jsonOf(result));
  else writeFields(io, fieldsOf(result));
  return EXIT.done;
}

function circuitOf({ r1cs, witness, curve, size }: Options): BenchProveParams['circuit'] {
  if (r1cs === undefined && witness === undefined) {
    return { kind: 'chain', curve, constraints: wholeNumber('--size', size, CONSTRAINTS_MAX) };
  }
  if (r1cs === undefined || witness === undefined) {
    throw usage('--r1cs and --witness', 'both or neither', 'one of them');
  }
  return { kind: 'r1cs', r1csPath: r1cs, witnessPath: witness };
}

function wholeNumber(option: string, text: string, max: number): number {
  const [, power, plainNumber] = SIZE.exec(text) ?? [];
  const number = power === undefined ? Number(plainNumber) : 2 ** Number(power);
  if (number >= 1 && number <= max) return number;
  throw usage(option, `a whole number up to ${max}, such as 2^10`, plain(text));
}

async function fastest(
  probing: Promise<readonly { name: BenchProveParams['backend']; probe: { available: boolean } }[]>,
): Promise<BenchProveParams['backend']> {
  return (await probing).find(({ probe }) => probe.available)?.name ?? 'cpu-reference';
}

function jsonOf(result: BenchProveResult): object {
  return {
    curve: result.curve,
    constraints: result.constraints,
    log_n: result.logN,
    backend: result.backend,
    ...(result.instructionSet !== undefined && { instruction_set: result.instructionSet }),
    threads: result.threads,
    cpu: result.cpu,
    runs: result.runs,
    seconds: result.seconds,
    peak_anonymous_bytes: result.peakBytes,
    stages_ms: result.stages,
    ...(result.peer !== undefined && {
      peer: result.peer,
      peer_seconds: result.peerSeconds,
      ratio: result.ratio,
      peer_peak_anonymous_bytes: result.peerPeakBytes,
    }),
  };
}

function fieldsOf(result: BenchProveResult): [string, string][] {
  const { peer, peerSeconds = 0, ratio = 0, peerPeakBytes = 0 } = result;
  const stages = Object.entries(result.stages).map(([name, ms]) => `${name} ${ms.toFixed(0)}`);
  const isa = result.instructionSet === undefined ? '' : ` (${result.instructionSet})`;
  return [
    ['circuit', `${result.constraints} constraints, 2^${result.logN}, ${result.curve}`],
    ['on', `${result.backend}${isa}, ${result.threads} threads of ${result.cpu}`],
    ['seconds', `${result.seconds.toFixed(3)} (median of ${result.runs})`],
    ['memory', `${mebibytes(result.peakBytes)} anonymous at most`],
    ['stages', `${stages.join(', ')} ms`],
    ...(peer === undefined
      ? []
      : [
          [peer, `${peerSeconds.toFixed(3)} s, ${mebibytes(peerPeakBytes)} with ours`],
          ['ratio', `${ratio.toFixed(1)} times as fast`],
        ].map(([name, text]) => [name, text] as [string, string])),
  ];
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / MIB)} MiB`;
}
