import { assert } from '../core/assert.ts';
import { concatBytes, writeBigIntLE } from '../core/bytes.ts';
import { formatError } from '../core/errors.ts';
import type { G1Bytes, G2Bytes } from '../math/curve.ts';
import type { QuotientBasis } from '../math/domain.ts';
import { Pacer } from '../math/pacer.ts';
import type { PointForm } from '../math/points.ts';
import type { ConstraintSystemSource, Term } from '../r1cs/constraint-system.ts';
import { type Coefficient, writeCoefficient } from './coefficient-rows.ts';
import { type GeneratorMultiples, type MultiplesOf, multiplesInTypeScript } from './multiples.ts';
import { domainFor } from './query-scalars.ts';
import {
  firstZero,
  nonZero,
  SCALAR_BYTES,
  type SetupScalars,
  type SetupScalarsOf,
  scalarsInTypeScript,
} from './setup-scalars.ts';
import type { ToxicWaste } from './toxic-waste.ts';
import type { ProvingKeySource } from './types.ts';

/** `count` records of a key file; the bytes are computed while they are read, once. */
export interface QueryContent {
  readonly count: number;
  readonly bytes: AsyncIterable<Uint8Array>;
}

type Queries = 'h' | 'l' | 'a' | 'bG1' | 'bG2' | 'rows';

/** What a writer of key files needs: a proving key whose queries are bytes yet to come. */
export type KeyContent = Omit<ProvingKeySource, Queries> & {
  readonly [Q in Exclude<Queries, 'rows'>]: QueryContent;
} & { readonly rows?: QueryContent };

export interface SetupOptions {
  readonly format: ProvingKeySource['format'];
  readonly waste: ToxicWaste;
  readonly signal: AbortSignal;
  /** What computes the points. Default: TypeScript. */
  readonly multiplesOf?: MultiplesOf;
  /** What computes their logarithms, for bellman parameters of the source. Default: TypeScript. */
  readonly scalarsOf?: SetupScalarsOf;
  /** Told the share of the work that is done, 0 to 1; points are computed while they are read. */
  readonly progress?: (share: number) => void;
}

/** Share of the work after which the points come, about. */
const SCALARS_SHARE = 0.5;

const FORMATS = {
  zkey: { basis: 'odd-lagrange', points: 'montgomery-le' },
  bellman: { basis: 'monomial', points: 'canonical-be' },
} as const satisfies Record<string, { basis: QuotientBasis; points: PointForm }>;

/**
 * A development key: whoever ran this knew the toxic waste. Bellman parameters are what bellman's
 * own generator makes of the same waste, byte for byte.
 * @throws ERR_FORMAT for a malformed system; for bellman also for one with an auxiliary variable in
 * no row
 */
export async function setup(
  source: ConstraintSystemSource,
  options: SetupOptions,
): Promise<KeyContent> {
  const { format, waste, signal, multiplesOf = multiplesInTypeScript } = options;
  const progress = options.progress ?? (() => {});
  assert(
    Object.values(waste).every((x) => x > 0n),
    'toxic waste: expected no zero',
  );
  const isFit = options.scalarsOf === undefined || format === 'bellman';
  assert(isFit, 'setup: expected bellman parameters of scalars from elsewhere');
  const { basis, points } = FORMATS[format];
  const pacer = new Pacer(signal);
  const domain = domainFor(source, basis);
  const counting = (share: number) => progress(SCALARS_SHARE * share);
  const scalars = await (options.scalarsOf === undefined
    ? scalarsInTypeScript(source, { domain, basis }, waste, pacer, counting)
    : options.scalarsOf({ waste, signal, progress: counting }));
  if (format === 'bellman') refuseUnconstrained(scalars);
  const { h, l } = scalars;
  const [a, b] = [scalars.a, scalars.b].map((logs) =>
    format === 'zkey' ? logs : nonZero(logs),
  ) as [Uint8Array, Uint8Array];
  const count = (logs: Uint8Array) => logs.length / SCALAR_BYTES;
  const g1Count = [h, l, a, b].reduce((sum, logs) => sum + count(logs), 0);
  const total = g1Count + count(b);
  const { curve } = source;
  const g1 = await multiplesOf({ curve, group: 'G1', count: g1Count, signal });
  const g2 = await multiplesOf({ curve, group: 'G2', count: count(b), signal });
  let done = 0;
  const written = (points: number): void => {
    done += points;
    progress(SCALARS_SHARE + ((1 - SCALARS_SHARE) * done) / total);
  };
  const query = (multiples: GeneratorMultiples, logs: Uint8Array): QueryContent => ({
    count: count(logs),
    bytes: encoded(multiples, logs, points, written),
  });
  return {
    ...(await keyHeader(source, scalars, waste, { g1, g2 })),
    format,
    points,
    logN: domain.logN,
    hBasis: basis,
    h: query(g1, h),
    l: query(g1, l),
    a: query(g1, a),
    bG1: query(g1, b),
    bG2: query(g2, b),
    ...(format === 'zkey' && scalars.coefficientCount !== undefined
      ? { rows: { count: scalars.coefficientCount, bytes: coefficientBytes(source, pacer) } }
      : {}),
  };
}

/** bellman's readers refuse infinity in l, so its generator refuses the circuit. */
function refuseUnconstrained(scalars: SetupScalars): void {
  const index = firstZero(scalars.l);
  if (index === -1) return;
  throw formatError(
    `auxiliary variable ${index}`,
    'a constraint that uses it',
    'none: auxiliary variable was unconstrained',
  );
}

interface Bases {
  readonly g1: GeneratorMultiples;
  readonly g2: GeneratorMultiples;
}

async function keyHeader(
  { curve, inputCount, auxCount }: ConstraintSystemSource,
  { ic }: SetupScalars,
  { alpha, beta, gamma, delta }: ToxicWaste,
  { g1, g2 }: Bases,
) {
  const secrets = [alpha, beta, delta].map((secret) => writeBigIntLE(secret, SCALAR_BYTES));
  const logs = concatBytes(...secrets, ic);
  const [alphaG1, betaG1, deltaG1, ...icG1] = await canonical<G1Bytes>(g1, logs);
  const inG2 = [beta, gamma, delta].map((secret) => writeBigIntLE(secret, SCALAR_BYTES));
  const [betaG2, gammaG2, deltaG2] = await canonical<G2Bytes>(g2, concatBytes(...inG2));
  assert(alphaG1 && betaG1 && deltaG1 && betaG2 && gammaG2 && deltaG2, 'setup: a point is missing');
  const verifyingKey = { curve, alphaG1, betaG2, gammaG2, deltaG2, ic: icG1 };
  return { curve, inputCount, auxCount, verifyingKey, betaG1, deltaG1 };
}

async function canonical<B extends Uint8Array>(
  multiples: GeneratorMultiples,
  logs: Uint8Array,
): Promise<readonly B[]> {
  const bytes = await multiples.encode(logs, 'canonical-be');
  const count = logs.length / SCALAR_BYTES;
  const size = bytes.length / count;
  return Array.from({ length: count }, (_, i) => bytes.slice(i * size, (i + 1) * size) as B);
}

async function* encoded(
  multiples: GeneratorMultiples,
  logs: Uint8Array,
  form: PointForm,
  written: (points: number) => void,
): AsyncGenerator<Uint8Array> {
  const step = multiples.chunk * SCALAR_BYTES;
  for (let start = 0; start < logs.length; start += step) {
    const chunk = logs.subarray(start, start + step);
    yield await multiples.encode(chunk, form);
    written(chunk.length / SCALAR_BYTES);
  }
}

/** A and B row by row, then the input rows; as many entries as `queryScalars` counted. */
async function* coefficientBytes(
  source: ConstraintSystemSource,
  pacer: Pacer,
): AsyncGenerator<Uint8Array> {
  const encode = (matrix: Coefficient['matrix'], row: number, terms: readonly Term[]) =>
    terms
      .filter(({ coefficient }) => coefficient !== 0n)
      .map(({ wire, coefficient: value }) =>
        writeCoefficient(source.curve, { matrix, row, wire, value }),
      );
  let row = 0;
  for await (const { a, b } of source.constraints()) {
    yield concatBytes(...encode('A', row, a), ...encode('B', row, b));
    row++;
    if (pacer.due) await pacer.pause();
  }
  for (let wire = 0; wire < source.inputCount; wire++) {
    yield concatBytes(...encode('A', row++, [{ wire, coefficient: 1n }]));
  }
}
