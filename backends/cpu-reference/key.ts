import type { WeierstrassPoint } from '@noble/curves/abstract/weierstrass.js';
import { openFile } from '../../src/core/source.ts';
import { type Coefficient, readCoefficients } from '../../src/groth16/coefficient-rows.ts';
import type { PointQuery, ProvingKeySource } from '../../src/groth16/types.ts';
import type { Pacer } from '../../src/math/pacer.ts';
import {
  checkPoint,
  type G1Point,
  type G2Point,
  g1Of,
  g2Of,
  type PointGroup,
  pointFromBytes,
  pointFromForm,
} from '../../src/math/points.ts';

/** A proving key in memory, decoded. */
export interface ReferenceKey {
  readonly source: ProvingKeySource;
  readonly alphaG1: G1Point;
  readonly betaG1: G1Point;
  readonly betaG2: G2Point;
  readonly deltaG1: G1Point;
  readonly deltaG2: G2Point;
  readonly h: readonly G1Point[];
  readonly l: readonly G1Point[];
  readonly a: readonly G1Point[];
  readonly bG1: readonly G1Point[];
  readonly bG2: readonly G2Point[];
  /** Entries of A and B; empty for a key without rows. */
  readonly coefficients: readonly Coefficient[];
}

const POINTS_A_CHUNK = 512;

/** @throws ERR_FORMAT for a point that is not of the key's form or, if checked, of its group */
export async function readKey(
  source: ProvingKeySource,
  checkPoints: boolean,
  pacer: Pacer,
  progress: (share: number) => void,
): Promise<ReferenceKey> {
  const { verifyingKey: vk } = source;
  const [g1, g2] = [g1Of(source.curve), g2Of(source.curve)];
  const queries = [source.h, source.l, source.a, source.bG1, source.bG2];
  const total = queries.reduce((sum, query) => sum + query.count, 0);
  let done = 0;
  const read = <T, B extends Uint8Array>(
    group: PointGroup<T, B>,
    name: 'h' | 'l' | 'a' | 'bG1' | 'bG2',
  ): Promise<WeierstrassPoint<T>[]> =>
    readQuery(group, source, name, async (point, subject) => {
      if (checkPoints) checkPoint(group, subject, point);
      done++;
      if (!pacer.due) return;
      progress(done / total);
      await pacer.pause();
    });
  return {
    source,
    alphaG1: pointFromBytes(g1, 'alpha', vk.alphaG1),
    betaG1: pointFromBytes(g1, 'beta', source.betaG1),
    betaG2: pointFromBytes(g2, 'beta', vk.betaG2),
    deltaG1: pointFromBytes(g1, 'delta', source.deltaG1),
    deltaG2: pointFromBytes(g2, 'delta', vk.deltaG2),
    h: await read(g1, 'h'),
    l: await read(g1, 'l'),
    a: await read(g1, 'a'),
    bG1: await read(g1, 'bG1'),
    bG2: await read(g2, 'bG2'),
    coefficients: await readRows(source, pacer),
  };
}

async function readQuery<T, B extends Uint8Array>(
  group: PointGroup<T, B>,
  key: ProvingKeySource,
  name: 'h' | 'l' | 'a' | 'bG1' | 'bG2',
  visit: (point: WeierstrassPoint<T>, subject: string) => Promise<void>,
): Promise<WeierstrassPoint<T>[]> {
  const { slice, count }: PointQuery = key[name];
  const size = group.byteLength;
  const points: WeierstrassPoint<T>[] = [];
  await using file = await openFile(slice.path);
  for (let first = 0; first < count; first += POINTS_A_CHUNK) {
    const chunk = Math.min(POINTS_A_CHUNK, count - first);
    const bytes = await file.read(slice.offset + first * size, chunk * size);
    for (let at = 0; at < bytes.length; at += size) {
      const subject = `${file.name}: ${name}[${points.length}]`;
      const point = pointFromForm(group, key.points, subject, bytes.subarray(at, at + size));
      points.push(point);
      await visit(point, subject);
    }
  }
  return points;
}

async function readRows(key: ProvingKeySource, pacer: Pacer): Promise<Coefficient[]> {
  if (key.rows === undefined) return [];
  const coefficients: Coefficient[] = [];
  await using file = await openFile(key.rows.slice.path);
  for await (const chunk of readCoefficients(file, key)) {
    for (const coefficient of chunk) coefficients.push(coefficient);
    if (pacer.due) await pacer.pause();
  }
  return coefficients;
}
