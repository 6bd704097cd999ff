import { CommanderError } from 'commander';
import { ERRORS, type ErrorCode, toProverError } from '../core/errors.ts';
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
 * brackets where a program reads. With `json` the error is also the command's JSON document.
 * @returns the exit code
 */
export function reportError(thrown: unknown, io: Io, json: boolean): number {
  const { exit, ...failure } = failureOf(thrown, io.interrupt);
  const next = HINTS[failure.code];
  const line = `proofline: ${plain(failure.message)}`;
  io.stderr.write(io.stderr.isTTY === true ? `${line}\n  next: ${next}\n` : `${line} (${next})\n`);
  if (json) {
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
