import { randomUUID } from 'node:crypto';
import { ERRORS, type ErrorCode, ProverError, toProverError } from '../core/errors.ts';
import { withWireNames } from '../core/wire-names.ts';

/**
 * What a client learns of an error. Internal errors are told by a reference to the log, never by
 * their text.
 */
export interface PublicError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly retry: 'never' | 'later' | 'other-backend';
  /** Under the names of the wire. */
  readonly data: Readonly<Record<string, string | number>>;
}

/** Seconds after which `retry: later` may be tried when the error itself names no time. */
const RETRY_AFTER_SECONDS = 5;

/** @param reference where the log tells more, shown in place of an internal error's text */
export function publicError(error: ProverError, reference: string): PublicError {
  const shown =
    error.code === 'ERR_INTERNAL'
      ? new ProverError('ERR_INTERNAL', { reason: `see ${reference} in the log` })
      : error;
  const { code, message, data, spec } = shown;
  return { code, message, retry: spec.retry, data: withWireNames(data) };
}

/**
 * What clients may know of whatever is thrown.
 * @param onInternalError hears each unexpected error, under the reference that the client is given
 */
export function errorDescriber(
  onInternalError: (error: unknown, reference: string) => void = () => {},
): (thrown: unknown) => PublicError {
  return (thrown) => {
    const error = toProverError(thrown);
    const reference = randomUUID();
    if (error.code === 'ERR_INTERNAL') onInternalError(thrown, reference);
    return publicError(error, reference);
  };
}

export function httpStatus(error: PublicError) {
  return ERRORS[error.code].http;
}

/** Headers that go with the error: when to retry, or how to authenticate. */
export function errorHeaders(error: PublicError): Record<string, string> {
  if (error.code === 'ERR_UNAUTHORIZED') return { 'www-authenticate': 'Bearer' };
  if (error.retry !== 'later') return {};
  return { 'retry-after': String(error.data.retry_after_seconds ?? RETRY_AFTER_SECONDS) };
}
