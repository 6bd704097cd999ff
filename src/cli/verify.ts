import type { Command } from 'commander';
import { toHex } from '../core/bytes.ts';
import { formatError, ProverError } from '../core/errors.ts';
import { openFile } from '../core/source.ts';
import { KIB } from '../core/units.ts';
import { readJson } from '../formats/snarkjs-json.ts';
import type { VerifyOutcome } from '../pipeline/pipeline.ts';
import { type Io, plain, writeJson } from './io.ts';
import { document } from './manual.ts';
import { flagsOf, jsonOption, keyFor, serverOption, settingOption, usage } from './options.ts';
import { painterOf } from './paint.ts';
import type { Act } from './program.ts';
import { withProgress } from './progress.ts';
import { EXIT } from './report.ts';
import type { StatementProof, VerifyInput, Wiring } from './wiring.ts';

interface Options {
  readonly key?: string;
  readonly zkey?: string;
  readonly proof: string;
  readonly public?: string;
  readonly statement?: string;
  readonly vk?: string;
  readonly server?: string;
  readonly json?: true;
}

/** 192 bytes a partition, as hex; no statement of Filecoin has more than 126. */
const PROOF_BYTES_MAX = 64 * KIB;

export function defineVerify(program: Command, act: Act): void {
  document(program.command('verify'), {
    summary: 'verify a proof',
    about: `
      Verifies a Groth16 proof over BN254 or BLS12-381 against a verification key in snarkjs's
      JSON, or against the verification key inside a zkey. Points are checked to be on their
      curve and in their group.

      A proof of Filecoin is verified as the chain does it: from a statement file with the chain's
      own values (commitments as hex or CID, miner, sector, randomness) and a verifying key. All of
      its partitions must hold.`,
    examples: [
      [
        'proofline verify --key verification_key.json --proof proof.json --public public.json',
        'prints valid or invalid',
      ],
      [
        'proofline verify --zkey circuit.zkey --proof proof.json --public public.json && deploy',
        'in a script: exit code 0 means valid',
      ],
      [
        'proofline verify --vk v28-x.vk --statement statement.json --proof proof.bin',
        'a proof of Filecoin',
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
    .option(
      '--vk <file>',
      'of a statement: verifying key (.vk) or parameters; with --server a stored key (default: the ' +
        'one of "proofline keys" that fits)',
    )
    .requiredOption('--proof <file>', 'proof: JSON; of a statement: its bytes, or their hex')
    .option('--public <file>', 'public inputs, JSON')
    .option('--statement <file>', 'what a proof of Filecoin proves, JSON')
    .addOption(settingOption('dataDir'))
    .addOption(serverOption())
    .addOption(jsonOption())
    .action((options: Options) => act((wiring, io) => verify(options, wiring, io)));
}

async function verify(options: Options, wiring: Wiring, io: Io): Promise<number> {
  const { valid, reason } =
    options.statement === undefined && options.vk === undefined
      ? await verifyInputs(options, wiring, io)
      : await verifyStatement(options, wiring, io);
  if (options.json === true) {
    writeJson(io, { valid, ...(reason !== undefined && { reason }) });
  } else {
    const paint = painterOf(io, wiring);
    const verdict = valid ? paint('green', 'valid') : paint('red', 'invalid');
    io.stdout.write(`${verdict}${reason === undefined ? '' : `: ${plain(reason)}`}\n`);
  }
  return valid ? EXIT.done : EXIT.invalid;
}

async function verifyInputs(options: Options, wiring: Wiring, io: Io): Promise<VerifyOutcome> {
  const input = await inputOf(options, io);
  await using prover = await (options.server === undefined
    ? wiring.openEngine({})
    : wiring.connectServer(options.server));
  return await withProgress(io, 'verifying', (hooks) => prover.verify(input, hooks));
}

async function verifyStatement(options: Options, wiring: Wiring, io: Io): Promise<VerifyOutcome> {
  const input = await statementOf(options, io);
  await using prover = await (options.server === undefined
    ? wiring.openEngine(flagsOf({ ...options }))
    : wiring.connectServer(options.server));
  return await withProgress(io, 'verifying', (hooks) => prover.verifyStatement(input, hooks));
}

async function inputOf(options: Options, io: Io): Promise<VerifyInput> {
  const { key, zkey, server } = options;
  if (options.public === undefined)
    throw usage('public inputs', '--public, or --statement', 'none');
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

async function statementOf(options: Options, io: Io): Promise<StatementProof> {
  const { statement, vk, server } = options;
  for (const other of ['key', 'zkey', 'public'] as const) {
    if (options[other] !== undefined) throw usage(`--${other}`, 'none with a statement', 'one');
  }
  if (statement === undefined) throw usage('--vk', 'a --statement', 'none');
  return {
    statement: (await jsonOf(statement)) as object,
    proof: await proofHex(options.proof),
    ...(vk !== undefined && { key: await keyFor(server, vk, io) }),
  };
}

/** Of a file of bytes, or of hex, with or without a line end. */
async function proofHex(path: string): Promise<string> {
  await using source = await openFile(path);
  if (source.size > PROOF_BYTES_MAX) {
    throw new ProverError('ERR_TOO_LARGE', { subject: source.name, limit: PROOF_BYTES_MAX });
  }
  if (source.size === 0) throw formatError(source.name, 'a proof', 'an empty file');
  const bytes = await source.read(0, source.size);
  const text = Buffer.from(bytes).toString('latin1').trim();
  return /^[0-9a-fA-F]+$/.test(text) ? text : toHex(bytes);
}

async function jsonOf(path: string): Promise<unknown> {
  await using source = await openFile(path);
  return await readJson(source);
}
