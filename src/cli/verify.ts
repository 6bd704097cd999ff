import type { Command } from 'commander';
import { openFile } from '../core/source.ts';
import { readJson } from '../formats/snarkjs-json.ts';
import { type Io, plain, writeJson } from './io.ts';
import { document } from './manual.ts';
import { jsonOption, keyFor, serverOption, usage } from './options.ts';
import { painterOf } from './paint.ts';
import type { Act } from './program.ts';
import { withProgress } from './progress.ts';
import { EXIT } from './report.ts';
import type { VerifyInput, Wiring } from './wiring.ts';

interface Options {
  readonly key?: string;
  readonly zkey?: string;
  readonly proof: string;
  readonly public: string;
  readonly server?: string;
  readonly json?: true;
}

export function defineVerify(program: Command, act: Act): void {
  document(program.command('verify'), {
    summary: 'verify a proof',
    about: `
      Verifies a Groth16 proof over BN254 or BLS12-381 against a verification key in snarkjs's
      JSON, or against the verification key inside a zkey. Points are checked to be on their
      curve and in their group.`,
    examples: [
      [
        'proofline verify --key verification_key.json --proof proof.json --public public.json',
        'prints valid or invalid',
      ],
      [
        'proofline verify --zkey circuit.zkey --proof proof.json --public public.json && deploy',
        'in a script: exit code 0 means valid',
      ],
    ],
    exits: [
      ['0', 'the proof is valid'],
      ['1', 'the proof is invalid'],
      ['2', 'wrong usage or bad input: a file is not what it should be'],
      ['3', 'failed: nothing can be said about the proof'],
      ['130', 'interrupted (143 by SIGTERM)'],
    ],
  })
    .option('--key <file>', 'verification key, JSON')
    .option('--zkey <file>', 'zkey; with --server also the name or SHA-256 of a stored key')
    .requiredOption('--proof <file>', 'proof, JSON')
    .requiredOption('--public <file>', 'public inputs, JSON')
    .addOption(serverOption())
    .addOption(jsonOption())
    .action((options: Options) => act((wiring, io) => verify(options, wiring, io)));
}

async function verify(options: Options, wiring: Wiring, io: Io): Promise<number> {
  const input = await inputOf(options, io);
  await using prover = await (options.server === undefined
    ? wiring.openEngine({})
    : wiring.connectServer(options.server));
  const { valid, reason } = await withProgress(io, 'verifying', (hooks) =>
    prover.verify(input, hooks),
  );
  if (options.json === true) {
    writeJson(io, { valid, ...(reason !== undefined && { reason }) });
  } else {
    const paint = painterOf(io, wiring);
    const verdict = valid ? paint('green', 'valid') : paint('red', 'invalid');
    io.stdout.write(`${verdict}${reason === undefined ? '' : `: ${plain(reason)}`}\n`);
  }
  return valid ? EXIT.done : EXIT.invalid;
}

async function inputOf(options: Options, io: Io): Promise<VerifyInput> {
  const { key, zkey, server } = options;
  if ((key === undefined) === (zkey === undefined)) {
    throw usage('key', 'either --key or --zkey', key === undefined ? 'neither' : 'both');
  }
  const stated = {
    proof: await jsonOf(options.proof),
    public: await jsonOf(options.public),
  };
  if (key !== undefined) return { ...stated, verificationKey: await jsonOf(key) };
  return { ...stated, key: await keyFor(server, zkey as string, io) };
}

async function jsonOf(path: string): Promise<unknown> {
  await using source = await openFile(path);
  return await readJson(source);
}
