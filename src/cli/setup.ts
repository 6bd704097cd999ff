import type { Command } from 'commander';
import { CIRCUIT_KINDS, type CircuitKind } from '../circuits/filecoin/circuits.ts';
import { SECTOR_SIZES, type SectorSize } from '../circuits/filecoin/sector-size.ts';
import { snarkjsText } from '../formats/snarkjs-json.ts';
import type { SetupParams } from '../host/protocol.ts';
import { type Io, plain, writeFields, writeJson } from './io.ts';
import { document } from './manual.ts';
import { flagsOf, jsonOption, settingOption, usage } from './options.ts';
import { checkWritable, writeFiles } from './output-files.ts';
import type { Act } from './program.ts';
import { withProgress } from './progress.ts';
import { EXIT } from './report.ts';
import type { Wiring } from './wiring.ts';

interface Options {
  readonly r1cs?: string;
  readonly circuit?: CircuitKind;
  readonly sectorSize?: SectorSize;
  readonly out?: string;
  readonly format?: 'zkey' | 'bellman';
  readonly vk?: string;
  readonly name?: string;
  readonly insecureSeed?: string;
  readonly json?: true;
  readonly threads?: string;
}

export function defineSetup(program: Command, act: Act): void {
  const command = document(program.command('setup'), {
    summary: 'make a key for development',
    about: `
      Makes a proving key from the constraints of a circuit, without a ceremony: whoever runs
      this could keep the toxic waste and forge proofs. The key is for development only, and its
      metadata says so wherever it is used.

      The circuit is an .r1cs file, or one of Filecoin's. Of those, the key is in bellman's format,
      and its verifying key is beside it (.vk). Circuits of more than 2^26 rows are refused: all
      but WinningPoSt of 32 and 64 GiB.`,
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
        'proofline setup --r1cs circuit.r1cs --out circuit.zkey --insecure-seed test',
        'the same key each time',
      ],
      [
        'proofline setup --circuit porep --sector-size 2KiB --name porep-2KiB',
        "parameters of Filecoin's PoRep, kept for the service",
      ],
    ],
  });
  command
    .option('--r1cs <file>', 'constraints, an .r1cs file')
    .addOption(
      command
        .createOption('--circuit <name>', 'a circuit of Filecoin instead')
        .choices(CIRCUIT_KINDS)
        .conflicts('r1cs'),
    )
    .addOption(
      command.createOption('--sector-size <size>', 'of which sectors').choices(SECTOR_SIZES),
    )
    .option('--out <file>', 'where the key goes (default: CIRCUIT-SIZE.params)')
    .addOption(
      command
        .createOption('--format <name>', 'bellman is for circuits over BLS12-381 (default: zkey)')
        .choices(['zkey', 'bellman']),
    )
    .option('--vk <file>', 'where the verification key goes, JSON')
    .option('--name <name>', 'also keep the key under this name, for the service')
    .option(
      '--insecure-seed <text>',
      'derive the toxic waste from a text, for a key that can be repeated',
    )
    .addOption(settingOption('dataDir'))
    .addOption(settingOption('threads'))
    .addOption(jsonOption())
    .action((options: Options) => act((wiring, io) => setup(options, wiring, io)));
}

/** @throws ERR_PARAMS for options that do not say one circuit */
function paramsOf({ insecureSeed: seed, ...options }: Options): SetupParams {
  const { r1cs, circuit: kind, sectorSize, out, format } = options;
  const seeded = seed === undefined ? {} : { seed };
  if (r1cs !== undefined) {
    if (sectorSize !== undefined) throw usage('--sector-size', 'a --circuit', 'an --r1cs');
    if (out === undefined) throw usage('--out', 'a file', 'none');
    return { circuit: { r1csPath: r1cs }, outPath: out, format: format ?? 'zkey', ...seeded };
  }
  if (kind === undefined) throw usage('circuit', 'either --r1cs or --circuit', 'neither');
  if (sectorSize === undefined) throw usage('--sector-size', SECTOR_SIZES.join(', '), 'none');
  if (format === 'zkey') throw usage('--format', 'bellman for a --circuit', format);
  const outPath = out ?? `${kind}-${sectorSize}.params`;
  return { circuit: { kind, sectorSize }, outPath, format: 'bellman', ...seeded };
}

async function setup(options: Options, wiring: Wiring, io: Io): Promise<number> {
  const { vk, name } = options;
  const params = paramsOf(options);
  const { outPath: out, format } = params;
  await checkWritable(vk === undefined ? [out] : [out, vk]);
  await using engine = await wiring.openEngine(flagsOf({ ...options }));
  const made = await withProgress(io, 'making a key', (hooks) => engine.setup(params, hooks));
  if (vk !== undefined) {
    await writeFiles([{ path: vk, content: snarkjsText(await engine.vkey(out)) }]);
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
      ...(made.verifyingKeyPath !== undefined && { verifying_key: made.verifyingKeyPath }),
      ...(vk !== undefined && { verification_key: vk }),
      ...(name !== undefined && { name }),
    });
  } else {
    writeFields(io, [
      ['key', `${plain(made.path)} (${made.bytes} bytes)`],
      ['digest', `sha256 ${made.digest}`],
      ['constraints', String(made.constraints)],
      ...[made.verifyingKeyPath, vk].flatMap((path) =>
        path === undefined ? [] : [['verifies', plain(path)] as const],
      ),
      ...(name === undefined ? [] : [['name', name] as const]),
      ['INSECURE', made.insecure],
    ]);
  }
  return EXIT.done;
}
