import type { Command } from 'commander';
import { SETTINGS } from '../config.ts';

export interface Manual {
  /** One line, for the list of commands. */
  readonly summary: string;
  /** What the command does, with what, and what it leaves. Paragraphs; a blank line parts them. */
  readonly about: string;
  /** Command lines, each with what it does. */
  readonly examples: readonly (readonly [string, string])[];
  /** Exit codes with their meaning for this command; default: those of all commands. */
  readonly exits?: readonly (readonly [string, string])[];
}

const EXITS: readonly (readonly [string, string])[] = [
  ['0', 'done'],
  ['2', 'wrong usage or bad input: a file, a key or a witness is not what it should be'],
  ['3', 'failed: the machine, a backend or the service could not do it'],
  ['130', 'interrupted (143 by SIGTERM); nothing half-written is left'],
];

/** Settings of the service as they are set outside of the command line. */
export const ENVIRONMENT: readonly (readonly [string, string])[] = [
  ...Object.values(SETTINGS).map(({ env, help }) => [env, help] as const),
  ['PROOFLINE_CONFIG', 'File of settings, JSON. Default: $XDG_CONFIG_HOME/proofline/config.json.'],
  ['PROOFLINE_TOKEN', 'Token that --server needs once the service has tokens.'],
  ['NO_COLOR', 'Any value turns colours off.'],
  ['OTEL_EXPORTER_OTLP_ENDPOINT', 'Collector that gets a trace of each job, as all OTEL_* say.'],
];

/** Gives a command the help of a manual page: what it is, options, examples, exit codes. */
export function document(command: Command, manual: Manual): Command {
  const { summary, about, examples, exits = EXITS } = manual;
  const lines = examples.map(([line, what]) => `  # ${what}\n  $ ${line}`).join('\n');
  return command
    .summary(summary)
    .description(unwrapped(about))
    .addHelpText('after', () => `\nExamples:\n${lines}\n\nExit codes:\n${columns(command, exits)}`);
}

export function documentEnvironment(command: Command): Command {
  return command.addHelpText('after', () => `\nEnvironment:\n${columns(command, ENVIRONMENT)}`);
}

/** Paragraphs of one line each, for the help to wrap. */
function unwrapped(text: string): string {
  return text
    .trim()
    .split(/\n\s*\n\s*/)
    .map((paragraph) => paragraph.replace(/\s+/g, ' '))
    .join('\n\n');
}

function columns(command: Command, rows: readonly (readonly [string, string])[]): string {
  const help = command.createHelp();
  help.prepareContext({ helpWidth: command.configureOutput().getOutHelpWidth?.() ?? 80 });
  const width = Math.max(...rows.map(([name]) => name.length));
  return rows.map(([name, text]) => help.formatItem(name, width, text, help)).join('\n');
}
