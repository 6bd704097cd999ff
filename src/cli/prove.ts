import type { Command } from 'commander';
import type { BackendName } from '../backend/backend.ts';
import { snarkjsText } from '../formats/snarkjs-json.ts';
import type { WitnessSource } from '../host/protocol.ts';
import { type Io, plain, writeFields, writeJson } from './io.ts';
import { document } from './manual.ts';
import {
  backendOption,
  flagsOf,
  jsonOption,
  keyFor,
  serverOption,
  settingOption,
  usage,
} from './options.ts';
import { checkWritable, writeFiles } from './output-files.ts';
import { waterfallText } from './paint.ts';
import type { Act } from './program.ts';
import { withProgress } from './progress.ts';
import { EXIT } from './report.ts';
import type { ProveInput, ProveReport, Wiring } from './wiring.ts';

interface Options {
  readonly key: string;
  readonly witness?: string;
  readonly input?: string;
  readonly wasm?: string;
  readonly r1cs?: string;
  readonly backend?: BackendName;
  readonly out: string;
  readonly public: string;
  readonly server?: string;
  readonly json?: true;
  readonly threads?: string;
}

export function defineProve(program: Command, act: Act): void {
  document(program.command('prove'), {
    summary: 'prove a witness and verify the proof',
    about: `
      Proves that a witness satisfies the circuit of a key, verifies the proof, and writes it
      and its public inputs in snarkjs's JSON. On a terminal it then draws where the time went.

      The witness is a .wtns file, or is computed from an input and the wasm of the circuit.
      Output files are written only once the proof has been verified, and never half.`,
    examples: [
      ['proofline prove --key circuit.zkey --witness witness.wtns', 'proof.json and public.json'],
      [
        'proofline prove --key circuit.zkey --input input.json --wasm circuit.wasm',
        'compute the witness too',
      ],
      [
        'proofline prove --key circuit.zkey --witness witness.wtns --r1cs circuit.r1cs',
        'say which constraint a wrong witness breaks',
      ],
      [
        'proofline prove --key circuit --witness witness.wtns --server http://127.0.0.1:9830',
        'let a running service prove, with a key that it stores',
      ],
    ],
  })
    .requiredOption('--key <file>', 'zkey; with --server also the name or SHA-256 of a stored key')
    .option('--witness <file>', 'witness, a .wtns file')
    .option('--input <file>', 'input of the circuit, JSON; with --wasm')
    .option('--wasm <file>', 'witness calculator that circom made; with --input')
    .option('--r1cs <file>', 'check each constraint first and name the first that does not hold')
    .option('--out <file>', 'where the proof goes', 'proof.json')
    .option('--public <file>', 'where the public inputs go', 'public.json')
    .addOption(backendOption())
    .addOption(settingOption('threads'))
    .addOption(serverOption())
    .addOption(jsonOption())
    .action((options: Options) => act((wiring, io) => prove(options, wiring, io)));
}

async function prove(options: Options, wiring: Wiring, io: Io): Promise<number> {
  const input = await inputOf(options, io);
  await checkWritable([options.out, options.public]);
  await using prover = await (options.server === undefined
    ? wiring.openEngine(flagsOf({ ...options }))
    : wiring.connectServer(options.server));
  const report = await withProgress(io, 'proving', (hooks) => prover.prove(input, hooks));
  await writeFiles([
    { path: options.out, text: snarkjsText(report.proof) },
    { path: options.public, text: snarkjsText(report.public) },
  ]);
  if (options.json === true) writeJson(io, toJson(report, options));
  else tell(report, options, wiring, io);
  return EXIT.done;
}

async function inputOf(options: Options, io: Io): Promise<ProveInput> {
  const { key, r1cs, backend, server } = options;
  const witness = witnessOf(options);
  if (server !== undefined && (r1cs !== undefined || !('path' in witness))) {
    throw usage('--server', '--witness alone', r1cs === undefined ? '--input' : '--r1cs');
  }
  return {
    key: await keyFor(server, key, io),
    witness,
    ...(r1cs !== undefined && { r1csPath: r1cs }),
    ...(backend !== undefined && { backend }),
  };
}

function witnessOf({ witness, input, wasm }: Options): WitnessSource {
  const expected = 'either --witness, or --input and --wasm';
  if (witness !== undefined && input === undefined && wasm === undefined) return { path: witness };
  if (witness !== undefined) throw usage('witness', expected, 'both');
  if (input !== undefined && wasm !== undefined) return { inputPath: input, wasmPath: wasm };
  if (input !== undefined) throw usage('witness', expected, '--input alone');
  throw usage('witness', expected, wasm === undefined ? 'neither' : '--wasm alone');
}

function toJson(report: ProveReport, { out, public: publicPath }: Options) {
  return {
    job_id: report.jobId,
    state: 'completed',
    proof: report.proof,
    public: report.public,
    key_digest: report.keyDigest,
    backend: report.backend,
    device: report.device,
    attempts: report.attempts,
    ...(report.fallbackReason !== undefined && { fallback_reason: report.fallbackReason }),
    verified: report.verified,
    timings: report.timings,
    files: { proof: out, public: publicPath },
  };
}

function tell(report: ProveReport, options: Options, wiring: Wiring, io: Io): void {
  const count = report.public.length;
  writeFields(io, [
    ['proof', plain(options.out)],
    ['public', `${plain(options.public)} (${count} ${count === 1 ? 'input' : 'inputs'})`],
    ['key', `sha256 ${report.keyDigest}`],
    ['backend', `${report.backend}, device ${plain(report.device)}`],
    ...(report.fallbackReason === undefined
      ? []
      : [['fallback', plain(report.fallbackReason)] as const]),
    ['verified', 'yes'],
  ]);
  if (io.stdout.isTTY === true) io.stdout.write(`\n${waterfallText(report.timeline, io, wiring)}`);
}
