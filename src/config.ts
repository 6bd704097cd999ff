import { availableParallelism, homedir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { ProverError } from './core/errors.ts';
import { GIB, KIB, MIB } from './core/units.ts';

const SIZE_UNITS: Readonly<Record<string, number>> = { B: 1, KiB: KIB, MiB: MIB, GiB: GIB };

const bytes = z
  .string()
  .regex(/^\d{1,12}(B|KiB|MiB|GiB)$/, 'expected a size such as 512MiB')
  .transform((text) => Number.parseInt(text, 10) * (SIZE_UNITS[text.replace(/\d+/, '')] as number));
const count = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, 'expected a whole number')
    .transform(Number)
    .pipe(z.number().min(min).max(max));
const listenAddress = z
  .string()
  .regex(/^(127\.0\.0\.1|localhost|\[::1\]):\d{1,5}$/, 'expected a loopback address and a port')
  .refine((text) => Number(text.split(':').at(-1)) <= 65_535, 'expected a port up to 65535');

interface Setting<T extends z.ZodType<unknown, string>> {
  readonly env: `PROOFLINE_${string}`;
  readonly fallback: string;
  readonly schema: T;
  readonly help: string;
}

function setting<T extends z.ZodType<unknown, string>>(s: Setting<T>): Setting<T> {
  return s;
}

/** Every setting there is; the README's table is generated from it. */
export const SETTINGS = {
  dataDir: setting({
    env: 'PROOFLINE_DATA_DIR',
    fallback: '$XDG_DATA_HOME/proofline',
    schema: z.string().min(1),
    help: 'Folder of keys (`keys/`) and payloads (`payloads/`).',
  }),
  listen: setting({
    env: 'PROOFLINE_LISTEN',
    fallback: '127.0.0.1:9830',
    schema: listenAddress,
    help: 'Address and port of the server; loopback only. Port 0 takes a free one.',
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
  uploadLimitBytes: setting({
    env: 'PROOFLINE_UPLOAD_LIMIT',
    fallback: '4GiB',
    schema: bytes,
    help: 'Largest payload.',
  }),
  timelineLines: setting({
    env: 'PROOFLINE_TIMELINE_LINES',
    fallback: 'false',
    schema: z.enum(['true', 'false']).transform((text) => text === 'true'),
    help: 'Print TIMELINE lines to standard error while serving.',
  }),
} as const;

export type Config = {
  readonly [K in keyof typeof SETTINGS]: z.output<(typeof SETTINGS)[K]['schema']>;
} & {
  /** https://no-color.org */
  readonly noColor: boolean;
  /** OTLP export was asked for by OpenTelemetry's own variables. */
  readonly telemetryExport: boolean;
};

export type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Flags win over the environment, which wins over the defaults. @throws ERR_PARAMS naming the
 * setting
 */
export function loadConfig(
  flags: Partial<Record<keyof typeof SETTINGS, string>> = {},
  environment: Environment = process.env,
): Config {
  const values: Record<string, unknown> = {};
  for (const [name, { env, fallback, schema }] of Object.entries(SETTINGS)) {
    const flag = flags[name as keyof typeof SETTINGS];
    const text = flag ?? (environment[env] || undefined) ?? expand(fallback, environment);
    const parsed = schema.safeParse(text);
    if (!parsed.success) {
      const expected = parsed.error.issues[0]?.message.replace(/^expected /, '') ?? 'another value';
      throw new ProverError('ERR_PARAMS', {
        subject: flag === undefined ? env : name,
        expected,
        actual: text,
      });
    }
    values[name] = parsed.data;
  }
  return Object.freeze({
    ...values,
    noColor: (environment.NO_COLOR ?? '') !== '',
    telemetryExport: wantsExport(environment),
  }) as Config;
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
