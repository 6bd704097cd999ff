import { basename } from 'node:path';
import { CommanderError } from 'commander';
import { ERRORS, type ErrorCode, toProverError } from '../core/errors.ts';
import { withWireNames } from '../core/wire-names.ts';
import { HINTS } from './hints.ts';
import { exitOfSignal, type Io, plain, writeJson } from './io.ts';

/** Exit codes; an error says itself whether the input was wrong (2) or the work failed (3). */
export const EXIT = { done: 0, invalid: 1, usage: 2, failed: 3 } as const;

interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly data?: Readonly<Record<string, string | number>>;
  readonly exit: number;
}

/**
 * Says what went wrong in one line, and what to do next: in a line of its own on a terminal, in
 * brackets where a program reads. With `--json` the error is also the command's JSON document.
 * @returns the exit code
 */
export function reportError(thrown: unknown, io: Io, argv: readonly string[]): number {
  const { exit, ...failure } = withPaths(failureOf(thrown, io.interrupt), argv);
  const next = HINTS[failure.code];
  const line = `proofline: ${plain(failure.message)}`;
  io.stderr.write(io.stderr.isTTY === true ? `${line}\n  next: ${next}\n` : `${line} (${next})\n`);
  if (argv.includes('--json')) {
    writeJson(io, { error: { ...failure, retry: ERRORS[failure.code].retry, next } });
  }
  return exit;
}

function failureOf(thrown: unknown, interrupt: AbortSignal): Failure {
  if (interrupt.aborted) {
    const { reason } = interrupt;
    return { code: 'ERR_CANCELLED', message: `cancelled by ${reason}`, exit: exitOfSignal(reason) };
  }
  if (thrown instanceof CommanderError) {
    // `error: unknown option '--k'\n(Did you mean --key?)`
    const message = thrown.message.replace(/^error: /, '').replace(/\s*\n\s*/g, ' ');
    return { code: 'ERR_PARAMS', message, exit: EXIT.usage };
  }
  const { code, message, data, spec } = toProverError(thrown);
  return { code, message, data, exit: spec.exit };
}

/**
 * Errors call a file by its base name, since nobody is told the folders of a service. A file that
 * was named on the command line is called as it was there.
 */
function withPaths(failure: Failure, argv: readonly string[]): Failure {
  const called = (text: string): string => {
    const given = argv.filter((path) => path.includes('/') && startsWithName(text, basename(path)));
    const [path] = given;
    if (path === undefined || new Set(given).size > 1) return text;
    return `${path}${text.slice(basename(path).length)}`;
  };
  const { message, data } = failure;
  if (data === undefined) return { ...failure, message: called(message) };
  const named = ([name, value]: [string, string | number]) =>
    [name, typeof value === 'string' ? called(value) : value] as const;
  const subjects = Object.fromEntries(Object.entries(data).map(named));
  return { ...failure, message: called(message), data: withWireNames(subjects) };
}

function startsWithName(text: string, name: string): boolean {
  return text === name || text.startsWith(`${name}:`);
}
