import { availableParallelism, homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { ProverError } from './core/errors.ts';
import { readSmallFile } from './core/small-file.ts';
import { GIB, KIB, MIB } from './core/units.ts';
import { type CuzkConfig, readCuzkConfig } from './cuzk-config.ts';

const SIZE_UNITS: Readonly<Record<string, number>> = { B: 1, KiB: KIB, MiB: MIB, GiB: GIB };
const DURATION_UNITS_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
};
const DAY_MS = 86_400_000;

/** `512MiB` with the unit's factor; there is no plain number, nor another unit. */
const quantity = (units: Readonly<Record<string, number>>, expected: string) =>
  z
    .string()
    .regex(new RegExp(`^\\d{1,9}(${Object.keys(units).join('|')})$`), expected)
    .transform((text) => Number.parseInt(text, 10) * (units[text.replace(/\d+/, '')] as number));
const bytes = (minBytes: number) =>
  quantity(SIZE_UNITS, 'expected a size such as 512MiB').pipe(
    z.number().min(minBytes, `expected ${minBytes}B or more`),
  );
const milliseconds = (daysMax: number) =>
  quantity(DURATION_UNITS_MS, 'expected a duration such as 90s').pipe(
    z.number().max(daysMax * DAY_MS, `expected at most ${daysMax}d`),
  );
const count = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'expected a whole number')
    .transform(Number)
    .refine((n) => n >= min && n <= max, `expected ${min} to ${max}`);
const choice = <const T extends string>(values: readonly [T, ...T[]]) =>
  z.enum(values, `expected ${values.slice(0, -1).join(', ')} or ${values.at(-1)}`);
const flag = choice(['true', 'false']).transform((text) => text === 'true');
/** A shell expands `~`; a file and a service manager do not. */
const path = z.string().regex(/^(?!~)/, 'expected a path without ~');
const listenAddress = z
  .string()
  .regex(/^([A-Za-z0-9.-]{1,253}|\[[0-9a-f:.]+\]):\d{1,5}$/, 'expected an address and a port')
  .refine((text) => Number(text.split(':').at(-1)) <= 65_535, 'expected a port up to 65535');
/** Address and port, or a Unix socket as gRPC's clients name one; empty: none. */
const grpcAddress = z.union(
  [z.literal(''), z.string().regex(/^unix:(\/\/)?\/[^\0]{1,100}$/), listenAddress],
  'expected an address and a port, or unix:///path/of.sock',
);
const list = z
  .string()
  .transform((text) => text.split(',').map((item) => item.trim()))
  .transform((items) => items.filter((item) => item !== ''));

interface Setting<T extends z.ZodType<unknown, string>> {
  readonly env: `PROOFLINE_${string}`;
  readonly fallback: string;
  readonly schema: T;
  readonly help: string;
  /** Its value is shown to nobody. */
  readonly secret?: true;
}

function setting<T extends z.ZodType<unknown, string>>(s: Setting<T>): Setting<T> {
  return s;
}

/** Every setting there is; the README's table is generated from it. */
export const SETTINGS = {
  dataDir: setting({
    env: 'PROOFLINE_DATA_DIR',
    fallback: '$XDG_DATA_HOME/proofline',
    schema: path.min(1, 'expected a path'),
    help: 'Folder of jobs, keys, payloads and tokens.',
  }),
  listen: setting({
    env: 'PROOFLINE_LISTEN',
    fallback: '127.0.0.1:9830',
    schema: listenAddress,
    help: 'Address and port of the server. Beyond this machine only with tokens. 0: a free port.',
  }),
  threads: setting({
    env: 'PROOFLINE_THREADS',
    fallback: String(availableParallelism()),
    schema: count(1, 1024),
    help: 'Threads that a native backend may use. Default: all cores.',
  }),
  queueLimit: setting({
    env: 'PROOFLINE_QUEUE_LIMIT',
    fallback: '1000',
    schema: count(1, 1_000_000),
    help: 'Jobs that may wait; one more is refused with advice when to retry.',
  }),
  jobsKept: setting({
    env: 'PROOFLINE_JOBS_KEPT',
    fallback: '1000',
    schema: count(1, 1_000_000),
    help: 'Settled jobs that are remembered, with their results and timelines.',
  }),
  jobsKeptMicros: setting({
    env: 'PROOFLINE_JOBS_KEPT_FOR',
    fallback: '30d',
    schema: milliseconds(36_500).transform((ms) => ms * 1000),
    help: 'How long a settled job is remembered.',
  }),
  drainMs: setting({
    env: 'PROOFLINE_DRAIN_TIME',
    fallback: '60s',
    schema: milliseconds(1),
    help: 'How long running jobs may take to finish when the server is stopped.',
  }),
  payloadsLimitBytes: setting({
    env: 'PROOFLINE_PAYLOADS_LIMIT',
    fallback: '100GiB',
    schema: bytes(MIB),
    help: 'Disk space for all payloads together.',
  }),
  uploadLimitBytes: setting({
    env: 'PROOFLINE_UPLOAD_LIMIT',
    fallback: '4GiB',
    schema: bytes(1),
    help: 'Largest payload.',
  }),
  tlsCertFile: setting({
    env: 'PROOFLINE_TLS_CERT_FILE',
    fallback: '',
    schema: path,
    help: 'Certificate chain, PEM; with the key, the server speaks HTTPS.',
  }),
  tlsKeyFile: setting({
    env: 'PROOFLINE_TLS_KEY_FILE',
    fallback: '',
    schema: path,
    help: 'Private key of the certificate, PEM.',
  }),
  allowedHosts: setting({
    env: 'PROOFLINE_ALLOWED_HOSTS',
    fallback: '',
    schema: list,
    help: 'Names, comma-separated, that clients may call the server by besides loopback ones.',
  }),
  corsOrigins: setting({
    env: 'PROOFLINE_CORS_ORIGINS',
    fallback: '',
    schema: list,
    help: 'Origins, comma-separated, of web pages that may call the server from a browser.',
  }),
  requestsPerMinute: setting({
    env: 'PROOFLINE_REQUESTS_PER_MINUTE',
    fallback: '6000',
    schema: count(1, 10_000_000),
    help: 'Requests a minute that each token may send.',
  }),
  jobsPerToken: setting({
    env: 'PROOFLINE_JOBS_PER_TOKEN',
    fallback: '1000',
    schema: count(1, 1_000_000),
    help: 'Unsettled jobs that each token may have.',
  }),
  minerApi: setting({
    env: 'PROOFLINE_MINER_API',
    fallback: '',
    schema: z.string(),
    help: 'Lotus miner to prove for, [TOKEN:]ADDRESS as in its MINER_API_INFO.',
    secret: true,
  }),
  workerUrl: setting({
    env: 'PROOFLINE_WORKER_URL',
    fallback: '',
    schema: z
      .string()
      .regex(/^(https?:\/\/[^/?#\s]+)?$/, 'expected a URL such as http://10.0.0.5:9830'),
    help: 'Where the miner reaches this service. Default: the address that it listens at.',
  }),
  workerRoles: setting({
    env: 'PROOFLINE_WORKER_ROLES',
    fallback: 'seal',
    schema: list.pipe(z.array(choice(['seal', 'window-post', 'winning-post'])).min(1)),
    help: 'What it proves for the miner, comma-separated: seal, window-post, winning-post.',
  }),
  workerParallel: setting({
    env: 'PROOFLINE_WORKER_PARALLEL',
    fallback: '2',
    schema: count(1, 1000),
    help: 'Tasks of each kind that the miner may have here at once.',
  }),
  lotusSecretFile: setting({
    env: 'PROOFLINE_LOTUS_SECRET_FILE',
    fallback: '',
    schema: path,
    help: "File of the secret that signs a Lotus or Curio node's tokens: those are let in, too.",
  }),
  grpcListen: setting({
    env: 'PROOFLINE_GRPC_LISTEN',
    fallback: '',
    schema: grpcAddress,
    help: "Where cuzk's gRPC is spoken, for Curio: HOST:PORT or unix:///PATH. Empty: nowhere.",
  }),
  grpcPublic: setting({
    env: 'PROOFLINE_GRPC_PUBLIC',
    fallback: 'false',
    schema: flag,
    help: 'Let gRPC, which has no tokens, be spoken beyond this machine.',
  }),
  statusListen: setting({
    env: 'PROOFLINE_STATUS_LISTEN',
    fallback: '',
    schema: z.union([z.literal(''), listenAddress], 'expected an address and a port'),
    help: 'Where anyone may read /status as cuzk has it, any web page too. Empty: nowhere.',
  }),
  logLevel: setting({
    env: 'PROOFLINE_LOG_LEVEL',
    fallback: 'info',
    schema: choice(['error', 'warn', 'info', 'debug', 'silent']),
    help: 'What is logged, as JSON lines on standard error: error, warn, info, debug or silent.',
  }),
  timelineLines: setting({
    env: 'PROOFLINE_TIMELINE_LINES',
    fallback: 'false',
    schema: flag,
    help: 'Print TIMELINE and CUZK_TIMING lines to standard error while serving.',
  }),
} as const;

export type Config = {
  readonly [K in keyof typeof SETTINGS]: z.output<(typeof SETTINGS)[K]['schema']>;
} & {
  /** What commands with --server present to the service. */
  readonly token: string | undefined;
  /** Lotus's own variable, which `proofline worker` also obeys. */
  readonly minerApiInfo: string | undefined;
  /** https://no-color.org */
  readonly noColor: boolean;
  /** OTLP export was asked for by OpenTelemetry's own variables. */
  readonly telemetryExport: boolean;
  /** What became of each key of a file of cuzk's. */
  readonly notes: readonly string[];
};

export type Environment = Readonly<Record<string, string | undefined>>;
export type SettingName = keyof typeof SETTINGS;
export type Flags = Partial<Record<SettingName, string>> & {
  /** Path of the configuration file; wins over PROOFLINE_CONFIG. */
  readonly config?: string;
};

/** Where a value came from, weakest first. */
export type Origin = 'default' | 'file' | 'environment' | 'flag';

export interface ShownSetting {
  /** As the file names it: `queue_limit`. */
  readonly name: string;
  readonly env: string;
  readonly value: string;
  readonly origin: Origin;
}

export interface ShownConfig {
  /** The file that was read; undefined where there is none. */
  readonly file: string | undefined;
  readonly settings: readonly ShownSetting[];
  /** What became of each key of a file of cuzk's. */
  readonly notes: readonly string[];
}

const FILE_BYTES_MAX = 64 * KIB;
/** Variables of ours that are no settings. */
const OTHER_VARIABLES = ['PROOFLINE_CONFIG', 'PROOFLINE_TOKEN'];

/**
 * Flags win over the environment, which wins over the configuration file, which wins over the
 * defaults. @throws ERR_PARAMS naming what is wrong: a value, or a setting that does not exist
 */
export function loadConfig(flags: Flags = {}, environment: Environment = process.env): Config {
  const values: Record<string, unknown> = {};
  const { settings, notes } = resolve(flags, environment);
  for (const { setting: name, text, subject } of settings) {
    const parsed = SETTINGS[name].schema.safeParse(text);
    if (!parsed.success) {
      const expected = parsed.error.issues[0]?.message.replace(/^expected /, '') ?? 'another value';
      throw new ProverError('ERR_PARAMS', { subject, expected, actual: text });
    }
    values[name] = parsed.data;
  }
  return Object.freeze({
    ...values,
    token: environment.PROOFLINE_TOKEN || undefined,
    minerApiInfo: environment.MINER_API_INFO || undefined,
    noColor: (environment.NO_COLOR ?? '') !== '',
    telemetryExport: wantsExport(environment),
    notes,
  }) as Config;
}

/** Every setting as text, with where it came from. @throws ERR_PARAMS as loadConfig does */
export function showConfig(flags: Flags = {}, environment: Environment = process.env): ShownConfig {
  loadConfig(flags, environment);
  const { file, settings, notes } = resolve(flags, environment);
  const shown = settings.map(({ setting: name, text, origin }): ShownSetting => {
    const { env, secret } = SETTINGS[name] as Setting<z.ZodType<unknown, string>>;
    const value = secret === true && text !== '' ? '(set)' : text;
    return { name: fileKey(env), env, value, origin };
  });
  return { file, settings: shown, notes };
}

interface Resolved {
  readonly setting: SettingName;
  readonly text: string;
  readonly origin: Origin;
  /** What messages call it. */
  readonly subject: string;
}

function resolve(flags: Flags, environment: Environment) {
  refuseUnknownVariables(environment);
  const wanted = flags.config ?? (environment.PROOFLINE_CONFIG || undefined);
  const path = wanted ?? defaultFile(environment);
  const file = readConfigFile(path, wanted !== undefined);
  const settings = (Object.keys(SETTINGS) as SettingName[]).map((setting): Resolved => {
    const { env, fallback } = SETTINGS[setting];
    const option = flags[setting];
    if (option !== undefined) {
      return { setting, text: option, origin: 'flag', subject: flagOf(setting) };
    }
    const variable = environment[env] || undefined;
    if (variable !== undefined) {
      return { setting, text: variable, origin: 'environment', subject: env };
    }
    const written = file?.settings[fileKey(env)];
    if (written !== undefined) {
      return { setting, text: written, origin: 'file', subject: `${path}: ${fileKey(env)}` };
    }
    return { setting, text: expand(fallback, environment), origin: 'default', subject: env };
  });
  return { file: file === undefined ? undefined : path, settings, notes: file?.notes ?? [] };
}

/** `PROOFLINE_DATA_DIR` is `--data-dir`. */
export function flagOf(setting: SettingName): string {
  return `--${fileKey(SETTINGS[setting].env).replaceAll('_', '-')}`;
}

/** `PROOFLINE_QUEUE_LIMIT` is `queue_limit` in the file. */
function fileKey(env: string): string {
  return env.replace('PROOFLINE_', '').toLowerCase();
}

function defaultFile(environment: Environment): string {
  const configHome = environment.XDG_CONFIG_HOME || join(homedir(), '.config');
  return join(configHome, 'proofline', 'config.json');
}

/**
 * A JSON file of ours, or a TOML file of cuzk's.
 * @param wanted whether the file was asked for by name, so that its absence is an error
 * @returns undefined where there is none
 */
function readConfigFile(path: string, wanted: boolean): CuzkConfig | undefined {
  const text = readText(path, wanted);
  if (text === undefined) return undefined;
  if (path.endsWith('.toml')) return readCuzkConfig(path, text);
  const parsed = z.record(z.string(), z.unknown()).safeParse(parseJson(path, text));
  if (!parsed.success) {
    const expected = 'a JSON object of settings';
    throw new ProverError('ERR_PARAMS', { subject: path, expected, actual: 'something else' });
  }
  const known = Object.values(SETTINGS).map(({ env }) => fileKey(env));
  const entries = Object.entries(parsed.data);
  for (const [key] of entries) refuseUnknown(path, key, known);
  const texts = entries.map(([key, value]) => [key, textOf(`${path}: ${key}`, value)]);
  return { settings: Object.fromEntries(texts), notes: [] };
}

function readText(path: string, wanted: boolean): string | undefined {
  try {
    return readSmallFile(path, FILE_BYTES_MAX).toString();
  } catch (thrown) {
    const { code } = ((thrown as Error).cause ?? {}) as NodeJS.ErrnoException;
    if (code === 'ENOENT' && !wanted) return undefined;
    throw thrown;
  }
}

const FileValue = z.union([
  z.union([z.string(), z.number(), z.boolean()]).transform(String),
  z.array(z.string()).transform((items) => items.join(',')),
]);

function textOf(subject: string, value: unknown): string {
  const { success, data } = FileValue.safeParse(value);
  if (success) return data;
  const expected = 'a string, a number, true, false or a list of strings';
  throw new ProverError('ERR_PARAMS', { subject, expected, actual: JSON.stringify(value) });
}

function parseJson(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const { message } = cause as Error;
    const position = /at position (\d+)/.exec(message)?.[1];
    const line = text.slice(0, Number(position)).split('\n').length;
    const subject = position === undefined ? path : `${path}: line ${line}`;
    const actual = `text that is none (${message})`;
    throw new ProverError('ERR_PARAMS', { subject, expected: 'JSON', actual }, cause);
  }
}

function refuseUnknownVariables(environment: Environment): void {
  const known = [...Object.values(SETTINGS).map(({ env }) => env), ...OTHER_VARIABLES];
  for (const variable of Object.keys(environment)) {
    if (variable.startsWith('PROOFLINE_')) refuseUnknown('environment', variable, known);
  }
}

/** @throws ERR_PARAMS that names the nearest one that exists */
function refuseUnknown(subject: string, name: string, known: readonly string[]): void {
  if (known.includes(name)) return;
  const nearest = [...known].sort((x, y) => distance(name, x) - distance(name, y))[0];
  const expected = `a setting that exists, perhaps ${nearest}`;
  throw new ProverError('ERR_PARAMS', { subject, expected, actual: name });
}

/** Edits between two words (V. Levenshtein, 1966). */
function distance(x: string, y: string): number {
  let row = Array.from({ length: y.length + 1 }, (_, j) => j);
  for (let i = 1; i <= x.length; i++) {
    const next = [i];
    for (let j = 1; j <= y.length; j++) {
      const same = x[i - 1] === y[j - 1] ? 0 : 1;
      const [above, left, before] = [row[j], next[j - 1], row[j - 1]] as [number, number, number];
      next.push(Math.min(above + 1, left + 1, before + same));
    }
    row = next;
  }
  return row[y.length] as number;
}

function expand(fallback: string, environment: Environment): string {
  const dataHome = environment.XDG_DATA_HOME || join(homedir(), '.local', 'share');
  return fallback.replace('$XDG_DATA_HOME', dataHome);
}

/** https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ */
function wantsExport(environment: Environment): boolean {
  const endpoint =
    environment.OTEL_EXPORTER_OTLP_ENDPOINT || environment.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT;
  return (
    Boolean(endpoint) &&
    environment.OTEL_SDK_DISABLED !== 'true' &&
    environment.OTEL_TRACES_EXPORTER !== 'none'
  );
}
