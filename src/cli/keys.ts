import { readdir, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import type { Command } from 'commander';
import { snarkjsText } from '../formats/snarkjs-json.ts';
import type { ImportOptions } from '../keys/store.ts';
import type { KeyInfo } from '../keys/stored-key.ts';
import { type Io, plain, writeFields, writeJson } from './io.ts';
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
      (without taking space where the file system can), or left where it is with --link.`,
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
    .option('--name <name>', 'what to call it (default: the name of the file)')
    .option('--link', 'leave the file where it is')
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
      Name, circuit, curve, size and digest of each key.`,
    examples: [['proofline keys list --json', 'for a program']],
  })
    .addOption(settingOption('dataDir'))
    .addOption(jsonOption())
    .action((options: Options) => act((wiring, io) => list(options, wiring, io)));
  document(keys.command('show'), {
    summary: 'say all that is known of a key',
    about: `
      By name or digest.`,
    examples: [['proofline keys show circuit', 'by name']],
  })
    .argument('<key>', 'its name or digest')
    .addOption(settingOption('dataDir'))
    .addOption(jsonOption())
    .action((key: string, options: Options) => act((wiring, io) => show(key, options, wiring, io)));
  document(keys.command('verify'), {
    summary: 'read keys once more and say which are damaged',
    about: `
      Every byte is compared with what was imported. Damage is named by its place.`,
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
      Jobs that still wait for the key will fail. A linked file stays where it is.`,
    examples: [['proofline keys remove circuit', 'by name']],
  })
    .argument('<key>', 'its name or digest')
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
  for (const file of files) {
    const wanted: ImportOptions = {
      name: name ?? nameOf(file),
      ...(digest !== undefined && { digest }),
      ...(options.link === true && { link: true }),
      ...(options.full === true && { full: true }),
    };
    const what = `importing ${plain(basename(file))}`;
    const key = await withProgress(io, what, (hooks) => engine.keys.import(file, wanted, hooks));
    imported.push(key);
    if (options.json !== true) writeFields(io, fieldsOf(key));
  }
  if (options.json === true) writeJson(io, { imported: imported.map(publicView) });
  return EXIT.done;
}

async function list(options: Options, wiring: Wiring, io: Io): Promise<number> {
  await using engine = await wiring.openEngine(flagsOf(options));
  const keys = await engine.keys.list();
  if (options.json === true) writeJson(io, { keys: keys.map(publicView) });
  else if (keys.length === 0) io.stdout.write('none: `proofline keys import FILE` keeps one\n');
  else {
    writeFields(
      io,
      keys.map((key) => [
        key.name,
        [key.circuit ?? key.format, key.curve, `2^${key.logN}`, key.digest.slice(0, 16)]
          .concat(key.insecure === undefined ? [] : ['INSECURE'])
          .join('  '),
      ]),
    );
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
  const digests =
    which === undefined ? (await engine.keys.list()).map(({ digest }) => digest) : [which];
  const results = [];
  for (const digest of digests) {
    const result = await withProgress(io, 'reading keys', (hooks) =>
      engine.keys.verify(digest, hooks),
    );
    results.push(result);
    const { key, damage } = result;
    const verdict = damage === undefined ? 'whole' : `DAMAGED: ${plain(damage)}`;
    if (options.json !== true) writeFields(io, [[key.name, verdict]]);
  }
  if (options.json === true) {
    writeJson(io, {
      keys: results.map(({ key, damage }) => ({
        name: key.name,
        digest: key.digest,
        whole: damage === undefined,
        ...(damage !== undefined && { damage }),
      })),
    });
  }
  return results.every(({ damage }) => damage === undefined) ? EXIT.done : EXIT.failed;
}

async function remove(which: string, options: Options, wiring: Wiring, io: Io): Promise<number> {
  await using engine = await wiring.openEngine(flagsOf(options));
  const key = await engine.keys.remove(which);
  if (options.json === true) writeJson(io, { removed: { name: key.name, digest: key.digest } });
  else writeFields(io, [[key.name, `${key.digest} removed`]]);
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

/** The key files of a folder, or the one file. @throws ERR_PARAMS for a folder without any */
async function keyFilesOf(path: string): Promise<string[]> {
  const info = await stat(path).catch(() => undefined);
  if (info?.isDirectory() !== true) return [path];
  const files = (await readdir(path)).filter((name) => /\.(zkey|params)$/.test(name)).sort();
  if (files.length === 0) throw usage('folder', 'files *.zkey or *.params', 'none of them');
  return files.map((name) => join(path, name));
}

function nameOf(file: string): string {
  return basename(file, extname(file)).slice(0, 128);
}

/** A key as programs see it. */
function publicView(key: KeyInfo): object {
  return {
    name: key.name,
    names: key.names,
    digest: key.digest,
    format: key.format,
    curve: key.curve,
    bytes: key.bytes,
    public_count: key.publicCount,
    log_n: key.logN,
    points: key.points,
    group_checked: key.points !== 'not checked',
    ...(key.circuit !== undefined && { circuit: key.circuit }),
    ...(key.insecure !== undefined && { insecure: key.insecure }),
    origin: key.origin,
    imported_at: key.importedAt,
    linked: key.link !== undefined,
    path: key.path,
  };
}

function fieldsOf(key: KeyInfo): [string, string][] {
  return [
    ['key', key.names.join(', ') || key.name],
    ['digest', `sha256 ${key.digest}`],
    ['format', `${key.format}, ${key.curve}, domain 2^${key.logN}, ${key.publicCount} public`],
    ...(key.circuit === undefined ? [] : [['circuit', key.circuit] as [string, string]]),
    ['points', key.points],
    ['file', `${plain(key.path)}${key.link === undefined ? '' : ' (linked)'}`],
    ...(key.insecure === undefined ? [] : [['INSECURE', key.insecure] as [string, string]]),
  ];
}
