import type { Command } from 'commander';
import { snarkjsText } from '../formats/snarkjs-json.ts';
import { type Io, plain, writeFields, writeJson } from './io.ts';
import { document } from './manual.ts';
import { jsonOption } from './options.ts';
import { checkWritable, writeFiles } from './output-files.ts';
import type { Act } from './program.ts';
import { EXIT } from './report.ts';
import type { Wiring } from './wiring.ts';

interface Options {
  readonly key: string;
  readonly out?: string;
  readonly json?: true;
}

export function defineKeys(program: Command, act: Act): void {
  const keys = document(program.command('keys'), {
    summary: 'look into keys',
    about: `
      Commands on proving keys.`,
    examples: [['proofline keys vkey --key circuit.zkey', 'print the verification key']],
  });
  document(keys.command('vkey'), {
    summary: 'take the verification key out of a key',
    about: `
      Writes the verification key of a zkey, or of bellman parameters, in snarkjs's JSON: to a
      file, or to standard output where none is named.`,
    examples: [
      ['proofline keys vkey --key circuit.zkey', 'print it'],
      ['proofline keys vkey --key circuit.zkey --out verification_key.json', 'keep it'],
    ],
  })
    .requiredOption('--key <file>', 'proving key')
    .option('--out <file>', 'where the verification key goes (default: standard output)')
    .addOption(jsonOption())
    .action((options: Options) => act((wiring, io) => vkey(options, wiring, io)));
}

async function vkey({ key, out, json }: Options, wiring: Wiring, io: Io): Promise<number> {
  if (out !== undefined) await checkWritable([out]);
  await using engine = await wiring.openEngine({});
  const found = await engine.vkey(key);
  const text = snarkjsText(found);
  if (out === undefined) {
    io.stdout.write(`${text}\n`);
    return EXIT.done;
  }
  await writeFiles([{ path: out, text }]);
  if (json === true) {
    writeJson(io, { path: out, curve: found.curve, public_inputs: found.nPublic });
  } else {
    writeFields(io, [
      ['key', plain(out)],
      ['curve', found.curve],
      ['public', `${found.nPublic} ${found.nPublic === 1 ? 'input' : 'inputs'}`],
    ]);
  }
  return EXIT.done;
}
