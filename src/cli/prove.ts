import type { Command } from 'commander';
import type { BackendName } from '../backend/backend.ts';
import type { Io } from './io.ts';
import { document } from './manual.ts';
import { backendOption, flagsOf, jsonOption, serverOption, settingOption } from './options.ts';
import { checkWritable, writeFiles } from './output-files.ts';
import type { Act } from './program.ts';
import { withProgress } from './progress.ts';
import { type ProofOptions, proveInput } from './prove-input.ts';
import { outputsOf, tell } from './prove-report.ts';
import { EXIT } from './report.ts';
import type { Wiring } from './wiring.ts';

export interface ProveOptions extends ProofOptions {
  readonly backend?: BackendName;
  readonly out?: string;
  readonly public?: string;
  readonly server?: string;
  readonly json?: true;
  readonly threads?: string;
}

export function defineProve(program: Command, act: Act): void {
  document(program.command('prove'), {
    summary: 'make a proof and verify it',
    about: `
      Proves that a witness satisfies a circuit, verifies the proof and writes it. On a terminal it
      then draws where the time went. Output files are written only once the proof has been
      verified, and never half.

      A circom circuit takes --key and a witness: a .wtns file, or computed from an input and the
      wasm of the circuit. Proof and public inputs are written in snarkjs's JSON.

      A proof of Filecoin takes --statement, what is proved in the terms of the chain, and
      --vanilla, files of vanilla proofs in bincode or JSON. PoRep: the output of its first phase
      (C1), bare or as Lotus wraps it; --miner and --sector-number may stand for its statement.
      WinningPoSt: one file. WindowPoSt: one a sector, in any order. SnapDeals: one a partition, in
      their order. Each value of a vanilla proof is checked before any proving, and what is wrong
      is named by sector, partition and challenge. The key is the one of "proofline keys" that
      fits, or --key. The proof is written as Lotus and Curio take it: 192 bytes for each
      partition, in their order; --json prints it in hex.`,
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
      ['proofline prove --vanilla c1.json --miner f01000 --sector-number 7', 'PoRep: proof.bin'],
      [
        'proofline prove --statement deadline.json --vanilla sector*.bin --partition 0',
        'one partition of a WindowPoSt',
      ],
    ],
  })
    .option(
      '--key <file>',
      'zkey or parameters; with --server also a name or SHA-256 of a stored key',
    )
    .option('--witness <file>', 'circom: witness, a .wtns file')
    .option('--input <file>', 'circom: input of the circuit, JSON; with --wasm')
    .option('--wasm <file>', 'circom: witness calculator of the circuit; with --input')
    .option('--r1cs <file>', 'circom: check each constraint first, name one that does not hold')
    .option('--statement <file>', 'Filecoin: what is proved, JSON')
    .option('--vanilla <file...>', 'Filecoin: vanilla proofs')
    .option('--miner <address>', 'PoRep without a statement: whose sector, such as f01000')
    .option('--sector-number <number>', 'PoRep without a statement: which; a wrapped C1 says it')
    .option('--partition <number>', 'Filecoin: this partition only (default: all)')
    .option('--out <file>', 'where the proof goes (default: proof.json, or proof.bin of Filecoin)')
    .option('--public <file>', 'circom: where the public inputs go (default: public.json)')
    .addOption(backendOption())
    .addOption(settingOption('dataDir'))
    .addOption(settingOption('threads'))
    .addOption(serverOption())
    .addOption(jsonOption())
    .action((options: ProveOptions) => act((wiring, io) => prove(options, wiring, io)));
}

async function prove(options: ProveOptions, wiring: Wiring, io: Io): Promise<number> {
  const input = await proveInput(options, io);
  const outputs = outputsOf(input, options);
  await checkWritable(outputs.paths);
  await using prover = await (options.server === undefined
    ? wiring.openEngine(flagsOf({ ...options }))
    : wiring.connectServer(options.server));
  const report = await withProgress(io, 'proving', (hooks) => prover.prove(input, hooks));
  await writeFiles(outputs.files(report));
  tell(report, outputs.paths, { json: options.json === true, wiring, io });
  return EXIT.done;
}
