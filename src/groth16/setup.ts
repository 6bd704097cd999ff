import { assert } from '../core/assert.ts';
import { concatBytes } from '../core/bytes.ts';
import { formatError } from '../core/errors.ts';
import type { G1Bytes, G2Bytes } from '../math/curve.ts';
import type { QuotientBasis } from '../math/domain.ts';
import { Pacer } from '../math/pacer.ts';
import type { PointForm } from '../math/points.ts';
import type { ConstraintSystemSource, Term } from '../r1cs/constraint-system.ts';
import { type Coefficient, writeCoefficient } from './coefficient-rows.ts';
import { type GeneratorMultiples, type MultiplesOf, multiplesInTypeScript } from './multiples.ts';
import { domainFor, type QueryScalars, queryScalars, quotientScalars } from './query-scalars.ts';
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
  { format, waste, signal, multiplesOf = multiplesInTypeScript, progress = () => {} }: SetupOptions,
): Promise<KeyContent> {
  assert(
    Object.values(waste).every((x) => x > 0n),
    'toxic waste: expected no zero',
  );
  const { basis, points } = FORMATS[format];
  const pacer = new Pacer(signal);
  const domain = domainFor(source, basis);
  const scalars = await queryScalars(source, waste, domain, pacer, (share) =>
    progress(SCALARS_SHARE * share),
  );
  if (format === 'bellman') refuseUnconstrained(scalars);
  const h = await quotientScalars(domain, basis, waste, pacer);
  const occurring = (values: readonly bigint[]): readonly bigint[] =>
    format === 'zkey' ? values : values.filter((value) => value !== 0n);

  const [a, b] = [occurring(scalars.a), occurring(scalars.b)];
  const g1Count = h.length + scalars.l.length + a.length + b.length;
  const total = g1Count + b.length;
  const { curve } = source;
  const g1 = await multiplesOf({ curve, group: 'G1', count: g1Count, signal });
  const g2 = await multiplesOf({ curve, group: 'G2', count: b.length, signal });
  let done = 0;
  const written = (count: number): void => {
    done += count;
    progress(SCALARS_SHARE + ((1 - SCALARS_SHARE) * done) / total);
  };
  const query = (multiples: GeneratorMultiples, logs: readonly bigint[]): QueryContent => ({
    count: logs.length,
    bytes: encoded(multiples, logs, points, written),
  });
  return {
    ...(await keyHeader(source, scalars, waste, { g1, g2 })),
    format,
    points,
    logN: domain.logN,
    hBasis: basis,
    h: query(g1, h),
    l: query(g1, scalars.l),
    a: query(g1, a),
    bG1: query(g1, b),
    bG2: query(g2, b),
    ...(format === 'zkey'
      ? { rows: { count: scalars.coefficientCount, bytes: coefficientBytes(source, pacer) } }
      : {}),
  };
}

/** bellman's readers refuse infinity in l, so its generator refuses the circuit. */
function refuseUnconstrained(scalars: QueryScalars): void {
  const index = scalars.l.indexOf(0n);
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
  { ic }: QueryScalars,
  { alpha, beta, gamma, delta }: ToxicWaste,
  { g1, g2 }: Bases,
) {
  const [alphaG1, betaG1, deltaG1, ...icG1] = await canonical<G1Bytes>(g1, [
    ...[alpha, beta, delta],
    ...ic,
  ]);
  const [betaG2, gammaG2, deltaG2] = await canonical<G2Bytes>(g2, [beta, gamma, delta]);
  assert(alphaG1 && betaG1 && deltaG1 && betaG2 && gammaG2 && deltaG2, 'setup: a point is missing');
  const verifyingKey = { curve, alphaG1, betaG2, gammaG2, deltaG2, ic: icG1 };
  return { curve, inputCount, auxCount, verifyingKey, betaG1, deltaG1 };
}

async function canonical<B extends Uint8Array>(
  multiples: GeneratorMultiples,
  logs: readonly bigint[],
): Promise<readonly B[]> {
  const bytes = await multiples.encode(logs, 'canonical-be');
  const size = bytes.length / logs.length;
  return logs.map((_, i) => bytes.slice(i * size, (i + 1) * size) as B);
}

async function* encoded(
  multiples: GeneratorMultiples,
  logs: readonly bigint[],
  form: PointForm,
  written: (points: number) => void,
): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < logs.length; start += multiples.chunk) {
    const chunk = logs.slice(start, start + multiples.chunk);
    yield await multiples.encode(chunk, form);
    written(chunk.length);
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
