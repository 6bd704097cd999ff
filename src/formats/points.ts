import type { WeierstrassPoint } from '@noble/curves/abstract/weierstrass.js';
import { equalBytes } from '../core/bytes.ts';
import { formatError } from '../core/errors.ts';
import type { ByteSource } from '../core/source.ts';
import {
  checkPoint,
  g1Of,
  g2Of,
  type PointForm,
  type PointGroup,
  pointFromForm,
  pointToBytes,
  pointToForm,
} from '../math/points.ts';

/**
 * The canonical bytes of a point that a file holds in `form`, checked: below q, on the
 * curve, of order r.
 * @throws ERR_FORMAT that names `subject`
 */
export function checkedPoint<T, B extends Uint8Array>(
  group: PointGroup<T, B>,
  form: PointForm,
  subject: string,
  bytes: Uint8Array,
): B {
  const point = pointFromForm(group, form, subject, bytes);
  checkPoint(group, subject, point);
  return pointToBytes(group, point);
}

/** The same of a file whose points are known to be in the group. @throws ERR_FORMAT */
function knownPoint<T, B extends Uint8Array>(
  group: PointGroup<T, B>,
  form: PointForm,
  subject: string,
  bytes: Uint8Array,
): B {
  return pointToBytes(group, pointFromForm(group, form, subject, bytes));
}

/** The same, without the point at infinity. @throws ERR_FORMAT that names `subject` */
export function checkedFinitePoint<T, B extends Uint8Array>(
  group: PointGroup<T, B>,
  form: PointForm,
  subject: string,
  bytes: Uint8Array,
): B {
  const canonical = checkedPoint(group, form, subject, bytes);
  if (canonical.some((byte) => byte !== 0)) return canonical;
  throw formatError(subject, 'a finite point', 'the point at infinity');
}

/** Points that are read and checked at a time: a quarter of a second's work. */
const POINTS_A_CHUNK = 256;

/**
 * The canonical bytes of `count` points that stand from `offset` on, each checked as by
 * `checkedPoint`.
 * @param trusted the file is known: only coordinates are checked
 * @throws ERR_FORMAT that names `name[i]`
 */
export async function readCheckedPoints<T, B extends Uint8Array>(
  source: ByteSource,
  group: PointGroup<T, B>,
  form: PointForm,
  name: string,
  offset: number,
  count: number,
  trusted = false,
): Promise<B[]> {
  const read = trusted ? knownPoint<T, B> : checkedPoint<T, B>;
  const size = group.byteLength;
  const points: B[] = [];
  for (let first = 0; first < count; first += POINTS_A_CHUNK) {
    const n = Math.min(POINTS_A_CHUNK, count - first);
    const bytes = await source.read(offset + first * size, n * size);
    for (let i = 0; i < n; i++) {
      const subject = `${source.name}: ${name}[${first + i}]`;
      points.push(read(group, form, subject, bytes.subarray(i * size, (i + 1) * size)));
    }
  }
  return points;
}

/** From canonical bytes, whose group membership is not checked again, to the bytes of a query. */
export function toForm<T, B extends Uint8Array>(
  group: PointGroup<T, B>,
  form: PointForm,
  bytes: B,
): Uint8Array {
  if (bytes.every((byte) => byte === 0)) return pointToForm(group, form, group.Point.ZERO);
  return pointToForm(group, form, pointFromForm(group, 'canonical-be', 'point', bytes));
}

/** The groups that have a compressed encoding. */
export const BLS_G1 = g1Of('bls12-381');
export const BLS_G2 = g2Of('bls12-381');

/**
 * A finite point of BLS_G1 or BLS_G2 from Zcash's compressed encoding (48 or 96 bytes: x
 * big-endian, c1 before c0; the top bits of byte 0 say: compressed, infinity, y is the larger
 * root). Checked: x below q, on the curve, of order r. noble decodes; only the bytes that it would
 * write itself are accepted.
 * @throws ERR_FORMAT that names `subject`
 */
export function decompress<T, B extends Uint8Array>(
  group: PointGroup<T, B>,
  subject: string,
  bytes: Uint8Array,
): B {
  if (bytes.length !== group.byteLength / 2) {
    throw formatError(subject, `${group.byteLength / 2} bytes`, bytes.length);
  }
  const expected = `a compressed point of ${group.curve.name} ${group.name}`;
  let point: WeierstrassPoint<T>;
  try {
    point = group.Point.fromBytes(bytes);
  } catch {
    throw formatError(subject, expected, 'bytes that are not one');
  }
  if (point.is0()) throw formatError(subject, expected, 'the point at infinity');
  if (!equalBytes(point.toBytes(true), bytes)) {
    throw formatError(subject, expected, 'another encoding of a point');
  }
  return pointToBytes(group, point);
}

/** @param bytes a finite point of BLS_G1 or BLS_G2 */
export function compress<T, B extends Uint8Array>(group: PointGroup<T, B>, bytes: B): Uint8Array {
  return pointFromForm(group, 'canonical-be', 'point', bytes).toBytes(true);
}
