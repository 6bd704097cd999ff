import type { Command } from 'commander';
import { snarkjsText } from '../formats/snarkjs-json.ts';
import { type Io, plain, writeFields, writeJson } from './io.ts';
import { document } from './manual.ts';
import { flagsOf, jsonOption, settingOption } from './options.ts';
import { checkWritable, writeFiles } from './output-files.ts';
import type { Act } from './program.ts';
import { withProgress } from './progress.ts';
import { EXIT } from './report.ts';
import type { Wiring } from './wiring.ts';

interface Options {
  readonly r1cs: string;
  readonly out: string;
  readonly format: 'zkey' | 'bellman';
  readonly vk?: string;
  readonly name?: string;
  readonly seed?: string;
  readonly json?: true;
  readonly threads?: string;
}

export function defineSetup(program: Command, act: Act): void {
  const command = document(program.command('setup'), {
    summary: 'make a key for development',
    about: `
      Makes a proving key from the constraints of a circuit, without a ceremony: whoever runs
      this could keep the toxic waste and forge proofs. The key is for development only, and its
      metadata says so wherever it is used.`,
    examples: [
      ['proofline setup --r1cs circuit.r1cs --out circuit.zkey', 'a zkey that snarkjs reads too'],
      [
        'proofline setup --r1cs circuit.r1cs --out circuit.zkey --vk verification_key.json',
        'its verification key as well',
      ],
      [
        'proofline setup --r1cs circuit.r1cs --out circuit.zkey --name circuit',
        'and keep it for the service',
      ],
      [
        'proofline setup --r1cs circuit.r1cs --out circuit.zkey --seed test',
        'the same key each time',
      ],
    ],
  });
  command
    .requiredOption('--r1cs <file>', 'constraints, an .r1cs file')
    .requiredOption('--out <file>', 'where the key goes')
    .addOption(
      command
        .createOption('--format <name>', 'bellman is for circuits over BLS12-381')
        .choices(['zkey', 'bellman'])
        .default('zkey'),
    )
    .option('--vk <file>', 'where the verification key goes, JSON')
    .option('--name <name>', 'also keep the key under this name, for the service')
    .option('--seed <text>', 'derive the toxic waste from a text, for a key that can be repeated')
    .addOption(settingOption('dataDir'))
    .addOption(settingOption('threads'))
    .addOption(jsonOption())
    .action((options: Options) => act((wiring, io) => setup(options, wiring, io)));
}

async function setup(options: Options, wiring: Wiring, io: Io): Promise<number> {
  const { r1cs, out, format, vk, seed, name } = options;
  await checkWritable(vk === undefined ? [out] : [out, vk]);
  await using engine = await wiring.openEngine(flagsOf({ ...options }));
  const params = { r1csPath: r1cs, outPath: out, format, ...(seed !== undefined && { seed }) };
  const made = await withProgress(io, 'making a key', (hooks) => engine.setup(params, hooks));
  if (vk !== undefined) {
    await writeFiles([{ path: vk, text: snarkjsText(await engine.vkey(out)) }]);
  }
  if (name !== undefined) {
    await withProgress(io, 'keeping the key', (hooks) =>
      engine.keys.import(out, { name, digest: made.digest }, hooks),
    );
  }
  if (options.json === true) {
    writeJson(io, {
      path: made.path,
      format,
      digest: made.digest,
      bytes: made.bytes,
      constraints: made.constraints,
      insecure: made.insecure,
      ...(vk !== undefined && { verification_key: vk }),
      ...(name !== undefined && { name }),
    });
  } else {
    writeFields(io, [
      ['key', `${plain(made.path)} (${made.bytes} bytes)`],
      ['digest', `sha256 ${made.digest}`],
      ['constraints', String(made.constraints)],
      ...(vk === undefined ? [] : [['verifies', plain(vk)] as const]),
      ...(name === undefined ? [] : [['name', name] as const]),
      ['INSECURE', made.insecure],
    ]);
  }
  return EXIT.done;
}
