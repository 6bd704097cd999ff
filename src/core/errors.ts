/**
 * Every operating error of the service: one table, from which JSON-RPC codes, HTTP statuses, exit
 * codes and the documentation are derived. Bugs are assertions (`assert.ts`), not entries here.
 */
export interface ErrorSpec {
  /** JSON-RPC 2.0 error code. */
  readonly rpc: number;
  readonly http: 400 | 401 | 403 | 404 | 409 | 413 | 415 | 422 | 429 | 500 | 503;
  /** Whether the same request can succeed when it is sent again. */
  readonly retry: 'never' | 'later' | 'other-backend';
  /** Exit code of the command line: 2 usage or bad input, 3 failed. */
  readonly exit: 2 | 3;
  /** `{name}` is replaced by that field of the error's data. Form: `subject: expected X, got Y`. */
  readonly text: string;
}

export const ERRORS = {
  ERR_PARAMS: {
    rpc: -32602,
    http: 400,
    retry: 'never',
    exit: 2,
    text: '{subject}: expected {expected}, got {actual}',
  },
  ERR_FORMAT: {
    rpc: -32001,
    http: 422,
    retry: 'never',
    exit: 2,
    text: '{subject}: expected {expected}, got {actual}',
  },
  ERR_FILE: { rpc: -32002, http: 422, retry: 'never', exit: 2, text: '{path}: {reason}' },
  ERR_KEY_UNKNOWN: {
    rpc: -32003,
    http: 404,
    retry: 'never',
    exit: 2,
    text: 'key {key}: expected one that is stored (`proofline keys list`), got none',
  },
  ERR_KEY_DAMAGED: {
    rpc: -32019,
    http: 422,
    retry: 'never',
    exit: 2,
    text: 'key {key}: expected {expected}, got {actual}',
  },
  ERR_PAYLOAD_UNKNOWN: {
    rpc: -32004,
    http: 404,
    retry: 'never',
    exit: 2,
    text: 'payload {sha256}: expected an uploaded payload, got none with that digest',
  },
  ERR_PAYLOAD_CORRUPT: {
    rpc: -32013,
    http: 422,
    retry: 'never',
    exit: 2,
    text: 'payload {sha256}: expected the bytes that were stored, got others ({actual})',
  },
  ERR_IDEMPOTENCY: {
    rpc: -32014,
    http: 422,
    retry: 'never',
    exit: 2,
    text: 'idempotency_key: expected the content of job {jobId}, got another',
  },
  ERR_DEADLINE: {
    rpc: -32015,
    http: 422,
    retry: 'never',
    exit: 3,
    text: 'deadline: expected a result by {deadline}, got none in time',
  },
  ERR_QUARANTINED: {
    rpc: -32016,
    http: 422,
    retry: 'never',
    exit: 3,
    text: 'job {jobId}: expected its device host to survive, got {crashes} crashes',
  },
  ERR_STORE: {
    rpc: -32017,
    http: 500,
    retry: 'never',
    exit: 3,
    text: '{subject}: expected {expected}, got {actual}',
  },
  ERR_STORAGE: {
    rpc: -32018,
    http: 503,
    retry: 'later',
    exit: 3,
    text: '{subject}: cannot {action}: {reason}',
  },
  ERR_TOO_LARGE: {
    rpc: -32005,
    http: 413,
    retry: 'never',
    exit: 2,
    text: '{subject}: expected at most {limit} bytes, got more',
  },
  ERR_JOB_UNKNOWN: {
    rpc: -32006,
    http: 404,
    retry: 'never',
    exit: 2,
    text: 'job {jobId}: expected a known job, got an unknown id',
  },
  ERR_JOB_STATE: {
    rpc: -32007,
    http: 409,
    retry: 'later',
    exit: 3,
    text: 'job {jobId}: expected {expected}, got {actual}',
  },
  ERR_FORBIDDEN: {
    rpc: -32008,
    http: 403,
    retry: 'never',
    exit: 2,
    text: '{subject}: expected {expected}, got {actual}',
  },
  ERR_UNAUTHORIZED: {
    rpc: -32040,
    http: 401,
    retry: 'never',
    exit: 2,
    text: 'authorization: expected a bearer token of this service, got {actual}',
  },
  ERR_SCOPE: {
    rpc: -32041,
    http: 403,
    retry: 'never',
    exit: 2,
    text: 'authorization: expected a token of scope {needed}, got one of scope {held}',
  },
  ERR_RATE_LIMITED: {
    rpc: -32042,
    http: 429,
    retry: 'later',
    exit: 3,
    text: 'requests: expected fewer a minute, got more; retry after {retryAfterSeconds} s',
  },
  ERR_MEDIA_TYPE: {
    rpc: -32009,
    http: 415,
    retry: 'never',
    exit: 2,
    text: 'content-type: expected {expected}, got {actual}',
  },
  ERR_ROUTE_UNKNOWN: {
    rpc: -32601,
    http: 404,
    retry: 'never',
    exit: 2,
    text: 'request: expected a path and verb of /openapi.json, or a method of /openrpc.json, got another',
  },
  ERR_WITNESS_UNSATISFIED: {
    rpc: -32010,
    http: 422,
    retry: 'never',
    exit: 2,
    text: 'witness: expected values that satisfy the circuit, got a proof that does not verify ({detail})',
  },
  ERR_CONSTRAINT_UNSATISFIED: {
    rpc: -32011,
    http: 422,
    retry: 'never',
    exit: 2,
    text: 'witness: expected every constraint to hold, got a failure at constraint {index} of {count}',
  },
  ERR_WITNESS_CALCULATION: {
    rpc: -32012,
    http: 422,
    retry: 'never',
    exit: 2,
    text: 'witness calculation: {reason}',
  },
  ERR_DEVICE_OUT_OF_MEMORY: {
    rpc: -32020,
    http: 503,
    retry: 'later',
    exit: 3,
    text: '{device}: expected {needBytes} bytes free, got {freeBytes}',
  },
  ERR_BACKEND_UNAVAILABLE: {
    rpc: -32021,
    http: 503,
    retry: 'other-backend',
    exit: 3,
    text: 'backend {backend}: expected it to work on this machine, got: {reason}',
  },
  ERR_BACKEND_FAULT: {
    rpc: -32022,
    http: 500,
    retry: 'other-backend',
    exit: 3,
    text: 'backend {backend}: expected a proof that verifies, got one that does not ({detail})',
  },
  ERR_HOST_CRASHED: {
    rpc: -32023,
    http: 500,
    retry: 'later',
    exit: 3,
    text: 'device host {device}: expected it to keep running, got {cause}',
  },
  ERR_CANCELLED: {
    rpc: -32030,
    http: 409,
    retry: 'never',
    exit: 3,
    text: 'job {jobId}: cancelled',
  },
  ERR_QUEUE_FULL: {
    rpc: -32031,
    http: 429,
    retry: 'later',
    exit: 3,
    text: 'queue: expected fewer than {limit} waiting jobs, got {limit}; retry after {retryAfterSeconds} s',
  },
  ERR_SHUTTING_DOWN: {
    rpc: -32032,
    http: 503,
    retry: 'later',
    exit: 3,
    text: 'service: expected a running service, got one that is shutting down',
  },
  ERR_LISTEN: { rpc: -32034, http: 500, retry: 'never', exit: 3, text: '{address}: {reason}' },
  ERR_UNREACHABLE: { rpc: -32033, http: 503, retry: 'later', exit: 3, text: '{url}: {reason}' },
  ERR_INTERNAL: {
    rpc: -32603,
    http: 500,
    retry: 'never',
    exit: 3,
    text: 'internal error: {reason}',
  },
} as const satisfies Record<`ERR_${string}`, ErrorSpec>;

export type ErrorCode = keyof typeof ERRORS;

type Fields<T extends string> = T extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Fields<Rest>
  : never;
/**
 * The data an error carries: exactly the fields its text names. Never a witness value, scalar or
 * blinding.
 */
export type ErrorData<C extends ErrorCode> = {
  readonly [K in Fields<(typeof ERRORS)[C]['text']>]: string | number;
};

export class ProverError<C extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'ProverError';
  readonly code: C;
  readonly data: Readonly<Record<string, string | number>>;

  constructor(code: C, data: ErrorData<C>, cause?: unknown) {
    super(renderText(ERRORS[code].text, data), cause === undefined ? undefined : { cause });
    this.code = code;
    this.data = data;
  }

  get spec(): ErrorSpec {
    return ERRORS[this.code];
  }
}

const VALUE_LENGTH_MAX = 1000;

function renderText(text: string, data: Readonly<Record<string, string | number>>): string {
  return text.replace(/\{(\w+)\}/g, (_, name: string) => oneLine(String(data[name])));
}

/** Names and values from outside neither break a line of a log nor fill it. */
function oneLine(text: string): string {
  const short = text.length > VALUE_LENGTH_MAX ? `${text.slice(0, VALUE_LENGTH_MAX)}…` : text;
  return short.replaceAll(/[\p{Cc}\u2028\u2029]/gu, '\ufffd');
}

/** `subject: expected X, got Y` for a file or message of the wrong form. */
export function formatError(subject: string, expected: string, actual: string | number) {
  return new ProverError('ERR_FORMAT', { subject, expected, actual });
}

/** The same error as a ProverError: itself, or ERR_INTERNAL around what was thrown. */
export function toProverError(thrown: unknown): ProverError {
  if (thrown instanceof ProverError) return thrown;
  const reason = thrown instanceof Error ? thrown.message : 'unknown';
  return new ProverError('ERR_INTERNAL', { reason }, thrown);
}

/** A ProverError as plain data, for messages between processes. */
export interface ErrorRecord {
  readonly code: ErrorCode;
  readonly data: Readonly<Record<string, string | number>>;
}

export function toErrorRecord(error: ProverError): ErrorRecord {
  return { code: error.code, data: error.data };
}

export function fromErrorRecord(record: ErrorRecord): ProverError {
  return new ProverError(record.code, record.data as ErrorData<ErrorCode>);
}
