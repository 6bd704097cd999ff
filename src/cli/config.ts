import type { Command } from 'commander';
import { SETTINGS, type SettingName } from '../config.ts';
import { type Io, plain, writeFields, writeJson } from './io.ts';
import { document } from './manual.ts';
import { flagsOf, jsonOption, settingOption } from './options.ts';
import type { Act } from './program.ts';
import { EXIT } from './report.ts';
import type { Wiring } from './wiring.ts';

type Options = Readonly<Record<string, unknown>> & { readonly json?: true };

export function defineConfig(program: Command, act: Act): void {
  const config = document(program.command('config'), {
    summary: 'say how it is configured',
    about: `
      Settings come from the defaults, a JSON file (--config, else PROOFLINE_CONFIG, else
      proofline/config.json in $XDG_CONFIG_HOME), the environment and the options of a command;
      each wins over those before it. In the file, PROOFLINE_QUEUE_LIMIT is "queue_limit". A file
      whose name ends in .toml is one of cuzk's, and works as it is: "config show" says what became
      of each key.`,
    examples: [
      ['proofline config show', 'each setting and where it came from'],
      [
        'proofline config show --config new.json',
        'what a file would change, and whether it is right',
      ],
    ],
  });
  const command = document(config.command('show'), {
    summary: 'print each setting and where it came from',
    about: `
      Also checks them: a wrong value, or a name that does not exist, is an error. Takes the
      options of "proofline serve", to say what they would make of it.`,
    examples: [
      ['proofline config show', 'for people'],
      ['proofline config show --json', 'for programs'],
    ],
  });
  for (const name of Object.keys(SETTINGS) as SettingName[]) command.addOption(settingOption(name));
  command
    .addOption(jsonOption())
    .action((options: Options) => act((wiring, io) => show(options, wiring, io)));
}

async function show(options: Options, wiring: Wiring, io: Io): Promise<number> {
  const { file, settings, notes } = wiring.showConfig(flagsOf(options));
  if (options.json === true) writeJson(io, { file: file ?? null, settings, notes });
  else {
    const width = Math.max(...settings.map(({ origin }) => origin.length));
    io.stdout.write(`file: ${file === undefined ? 'none' : plain(file)}\n`);
    for (const note of notes) io.stdout.write(`  ${plain(note)}\n`);
    io.stdout.write('\n');
    writeFields(
      io,
      settings.map(({ name, value, origin }) => [
        name,
        `${origin.padEnd(width)}  ${value === '' ? '-' : plain(value)}`,
      ]),
    );
  }
  return EXIT.done;
}
