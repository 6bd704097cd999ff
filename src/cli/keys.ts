import { readdir, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { type Command, Option } from 'commander';
import { toProverError } from '../core/errors.ts';
import { systemReason } from '../core/source.ts';
import { officialByName } from '../formats/official-keys.ts';
import { snarkjsText } from '../formats/snarkjs-json.ts';
import type { ImportOptions } from '../keys/import.ts';
import type { Verification } from '../keys/store.ts';
import type { KeyInfo } from '../keys/stored-key.ts';
import { type Io, plain, writeFields, writeJson } from './io.ts';
import { fieldsOf, publicView, summaryOf, verdictOf } from './key-views.ts';
import { document } from './manual.ts';
import { flagsOf, jsonOption, settingOption, usage } from './options.ts';
import { checkWritable, writeFiles } from './output-files.ts';
import type { Act } from './program.ts';
import { withProgress } from './progress.ts';
import { EXIT } from './report.ts';
import type { Wiring } from './wiring.ts';

type Options = Readonly<Record<string, unknown>> & { readonly json?: true };

interface VkeyOptions {
  readonly key: string;
  readonly out?: string;
  readonly json?: true;
}

export function defineKeys(program: Command, act: Act): void {
  const keys = document(program.command('keys'), {
    summary: 'keep keys',
    about: `
      The keys that the service proves with, in the data folder. A running service sees what
      these commands change at once.`,
    examples: [
      ['proofline keys import circuit.zkey --name circuit', 'keep a key under a name'],
      ['proofline keys list', 'what is kept'],
      ['proofline keys vkey --key circuit.zkey', 'print the verification key of a file'],
    ],
  });
  defineImport(keys, act);
  defineLook(keys, act);
  defineRemove(keys, act);
  defineVkey(keys, act);
}

function defineImport(keys: Command, act: Act): void {
  document(keys.command('import'), {
    summary: 'check a key and keep it',
    about: `
      Takes a zkey, bellman parameters, or a folder of them such as Filecoin's parameter cache.
      The structure and the verifying key are always checked; the points of the queries up to a
      million, or all with --full; an official file by its published digest. The key is copied
      (without taking space where the file system can), or left where it is with --link; it must
      then stay there as it is.

      An import that was interrupted leaves nothing; run again, it passes over what it has
      imported. It waits while another import runs. A stored key that is damaged is replaced.`,
    examples: [
      ['proofline keys import circuit.zkey', 'named after the file'],
      [
        'proofline keys import /var/tmp/filecoin-proof-parameters --link',
        'a whole folder, in place',
      ],
      ['proofline keys import big.params --digest SHA256', 'by a digest from a trusted place'],
    ],
  })
    .argument('<path>', 'key file, or folder of key files')
    .option('--name <name>', 'what to call it (default: its circuit if official, else its file)')
    .option('--copy', 'keep a copy (the default)')
    .addOption(new Option('--link', 'leave the file where it is').conflicts('copy'))
    .option('--digest <sha256>', 'refuse any other file, and trust this one')
    .option('--full', 'check every point, however many')
    .addOption(settingOption('dataDir'))
    .addOption(settingOption('threads'))
    .addOption(jsonOption())
    .action((path: string, options: Options) =>
      act((wiring, io) => importKeys(path, options, wiring, io)),
    );
}

function defineLook(keys: Command, act: Act): void {
  document(keys.command('list'), {
    summary: 'list the keys',
    about: `
      Name, circuit or format, curve, size and digest of each key, and what is known to be wrong
      with it; "keys verify" also reads the files.`,
    examples: [['proofline keys list --json', 'for a program']],
  })
    .addOption(settingOption('dataDir'))
    .addOption(jsonOption())
    .action((options: Options) => act((wiring, io) => list(options, wiring, io)));
  document(keys.command('show'), {
    summary: 'say all that is known of a key',
    about: `
      By name, digest, or the beginning of a digest.`,
    examples: [['proofline keys show circuit', 'by name']],
  })
    .argument('<key>', 'its name or digest')
    .addOption(settingOption('dataDir'))
    .addOption(jsonOption())
    .action((key: string, options: Options) => act((wiring, io) => show(key, options, wiring, io)));
  document(keys.command('verify'), {
    summary: 'read keys once more and say which are damaged',
    about: `
      Every byte is compared with what was imported. Damage is named by its place; the service
      then refuses the key until it is imported again. A file that was only moved or touched, and
      is whole, is taken again.`,
    examples: [['proofline keys verify', 'all of them']],
    exits: [
      ['0', 'every key is whole'],
      ['2', 'wrong usage'],
      ['3', 'a key is damaged'],
    ],
  })
    .argument('[key]', 'its name or digest (default: every key)')
    .addOption(settingOption('dataDir'))
    .addOption(jsonOption())
    .action((key: string | undefined, options: Options) =>
      act((wiring, io) => verify(key, options, wiring, io)),
    );
}

function defineRemove(keys: Command, act: Act): void {
  document(keys.command('remove'), {
    summary: 'remove a key',
    about: `
      Removes a key with all its names; a linked file stays where it is. A key that unsettled
      jobs need is refused: with --force it goes, and they fail.`,
    examples: [['proofline keys remove circuit', 'by name']],
  })
    .argument('<key>', 'its name or digest')
    .option('--force', 'also a key that unsettled jobs need')
    .addOption(settingOption('dataDir'))
    .addOption(jsonOption())
    .action((key: string, options: Options) =>
      act((wiring, io) => remove(key, options, wiring, io)),
    );
}

function defineVkey(keys: Command, act: Act): void {
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
    .action((options: VkeyOptions) => act((wiring, io) => vkey(options, wiring, io)));
}

async function importKeys(path: string, options: Options, wiring: Wiring, io: Io): Promise<number> {
  const files = await keyFilesOf(path);
  const { name, digest } = options as { name?: string; digest?: string };
  if (files.length !== 1 && (name !== undefined || digest !== undefined)) {
    throw usage('--name and --digest', 'one key file', `${files.length} of them`);
  }
  await using engine = await wiring.openEngine(flagsOf(options));
  const imported: KeyInfo[] = [];
  const failed: Failure[] = [];
  for (const file of files) {
    const wanted: ImportOptions = {
      name: name ?? nameFor(file),
      ...(digest !== undefined && { digest }),
      ...(options.link === true && { link: true }),
      ...(options.full === true && { full: true }),
    };
    const what = `importing ${plain(basename(file))}`;
    try {
      const key = await withProgress(io, what, (hooks) => engine.keys.import(file, wanted, hooks));
      imported.push(key);
      if (options.json !== true) writeFields(io, fieldsOf(key));
    } catch (thrown) {
      // One bad file of a folder does not keep the others out.
      if (files.length === 1 || io.interrupt.aborted) throw thrown;
      const failure = failureOf(file, thrown);
      failed.push(failure);
      io.stderr.write(`proofline: ${failure.file}: ${failure.message}\n`);
    }
  }
  if (options.json === true) {
    writeJson(io, {
      imported: imported.map(publicView),
      ...(failed.length > 0 && { failed: failed.map(({ exit: _, ...failure }) => failure) }),
    });
  }
  return Math.max(EXIT.done, ...failed.map(({ exit }) => exit));
}

interface Failure {
  readonly file: string;
  readonly code: string;
  readonly message: string;
  readonly exit: number;
}

function failureOf(file: string, thrown: unknown): Failure {
  const { code, message, spec } = toProverError(thrown);
  return { file: plain(basename(file)), code, message: plain(message), exit: spec.exit };
}

async function list(options: Options, wiring: Wiring, io: Io): Promise<number> {
  await using engine = await wiring.openEngine(flagsOf(options));
  const keys = await engine.keys.list();
  const unreadable = await engine.keys.unreadable();
  if (options.json === true) {
    writeJson(io, {
      keys: keys.map(publicView),
      ...(unreadable.length > 0 && { unreadable: unreadable.map(verdictOf) }),
    });
  } else if (keys.length + unreadable.length === 0) {
    io.stdout.write('none: `proofline keys import FILE` keeps one\n');
  } else {
    writeFields(io, [
      ...keys.map((key) => [key.name, summaryOf(key)] as const),
      ...unreadable.map(({ name, digest, damage }) => {
        return [name, `${digest.slice(0, 16)}  DAMAGED: ${damage}`] as const;
      }),
    ]);
  }
  return EXIT.done;
}

async function show(which: string, options: Options, wiring: Wiring, io: Io): Promise<number> {
  await using engine = await wiring.openEngine(flagsOf(options));
  const key = await engine.keys.find(which);
  if (options.json === true) writeJson(io, publicView(key));
  else writeFields(io, fieldsOf(key));
  return EXIT.done;
}

async function verify(
  which: string | undefined,
  options: Options,
  wiring: Wiring,
  io: Io,
): Promise<number> {
  await using engine = await wiring.openEngine(flagsOf(options));
  const { keys } = engine;
  const all = async () => [...(await keys.list()), ...(await keys.unreadable())];
  const digests = which === undefined ? (await all()).map(({ digest }) => digest) : [which];
  const verdicts: Verification[] = [];
  for (const digest of digests) {
    const verdict = await withProgress(io, 'reading keys', (hooks) => keys.verify(digest, hooks));
    verdicts.push(verdict);
    const { name, path, damage } = verdict;
    const place = path === undefined ? '' : ` (${plain(path)})`;
    const said = damage === undefined ? 'whole' : `DAMAGED: ${damage}${place}`;
    if (options.json !== true) writeFields(io, [[name, said]]);
  }
  if (options.json === true) writeJson(io, { keys: verdicts.map(verdictOf) });
  return verdicts.every(({ damage }) => damage === undefined) ? EXIT.done : EXIT.failed;
}

async function remove(which: string, options: Options, wiring: Wiring, io: Io): Promise<number> {
  await using engine = await wiring.openEngine(flagsOf(options));
  const { name, digest } = await engine.keys.remove(which, options.force === true);
  if (options.json === true) writeJson(io, { removed: { name, digest } });
  else writeFields(io, [[name, `${digest} removed`]]);
  return EXIT.done;
}

async function vkey({ key, out, json }: VkeyOptions, wiring: Wiring, io: Io): Promise<number> {
  if (out !== undefined) await checkWritable([out]);
  await using engine = await wiring.openEngine({});
  const found = await engine.vkey(key);
  const text = snarkjsText(found);
  if (out === undefined) {
    io.stdout.write(`${text}\n`);
    return EXIT.done;
  }
  await writeFiles([{ path: out, content: text }]);
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

/** The key files of a folder, or the one file. @throws ERR_PARAMS for a folder without any */
async function keyFilesOf(path: string): Promise<string[]> {
  const info = await stat(path).catch(() => undefined);
  if (info?.isDirectory() !== true) return [path];
  const entries = await readdir(path).catch((cause) => {
    throw usage('folder', 'one that may be read', systemReason(cause));
  });
  const files = entries.filter((name) => /\.(zkey|params)$/.test(name)).sort();
  if (files.length === 0) throw usage('folder', 'files *.zkey or *.params', 'none of them');
  return files.map((name) => join(path, name));
}

function nameFor(file: string): string {
  const official = officialByName(basename(file));
  if (official !== undefined) return `${official.circuit}-${official.sectorSize}`;
  return basename(file, extname(file)).slice(0, 128);
}
