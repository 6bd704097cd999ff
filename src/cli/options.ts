import { existsSync } from 'node:fs';
import { Option } from 'commander';
import type { BackendName } from '../backend/backend.ts';
import { type Flags, flagOf, SETTINGS, type SettingName } from '../config.ts';
import { ProverError } from '../core/errors.ts';
import { digestFile } from '../host/digest.ts';
import type { Io } from './io.ts';

const BACKENDS: { readonly [B in BackendName]: B } = {
  cuda: 'cuda',
  cpu: 'cpu',
  'cpu-reference': 'cpu-reference',
  webgpu: 'webgpu',
};

export function backendOption(): Option {
  return new Option(
    '--backend <name>',
    'what proves (default: the fastest that works here)',
  ).choices(Object.values(BACKENDS));
}

export function jsonOption(): Option {
  return new Option('--json', 'print one JSON document, also for an error');
}

export function serverOption(): Option {
  return new Option('--server <url>', 'ask a running service instead of working here');
}

/** A setting of the service as an option: `PROOFLINE_DATA_DIR` is `--data-dir`. */
export function settingOption(name: SettingName): Option {
  const { help } = SETTINGS[name];
  const text = help[0]?.toLowerCase() + help.slice(1).replace(/\.$/, '');
  const option = new Option(`${flagOf(name)} <value>`, text);
  option.attributeName = () => name;
  return option;
}

/** The settings among a command's options. */
export function flagsOf(options: Readonly<Record<string, unknown>>): Flags {
  const given = Object.entries(options).filter(([name]) => Object.hasOwn(SETTINGS, name));
  return Object.fromEntries(given) as Flags;
}

/** What is wrong with how options go together. */
export function usage(subject: string, expected: string, actual: string): ProverError {
  return new ProverError('ERR_PARAMS', { subject, expected, actual });
}

/** A key as its prover knows it. A service takes no paths: a file is named to it by its digest. */
export async function keyFor(server: string | undefined, key: string, io: Io): Promise<string> {
  return server !== undefined && existsSync(key) ? await digestFile(key, io.interrupt) : key;
}
