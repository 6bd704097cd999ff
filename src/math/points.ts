import type { Fp2 } from '@noble/curves/abstract/tower.js';
import type { WeierstrassPoint, WeierstrassPointCons } from '@noble/curves/abstract/weierstrass.js';
import { assert } from '../core/assert.ts';
import { readBigIntBE, readBigIntLE, writeBigIntBE, writeBigIntLE } from '../core/bytes.ts';
import { formatError } from '../core/errors.ts';
import { type Curve, type CurveName, curveOf, type G1Bytes, type G2Bytes } from './curve.ts';

export type G1Point = WeierstrassPoint<bigint>;
export type G2Point = WeierstrassPoint<Fp2>;

/**
 * Bytes of the points of a query.
 * `montgomery-le`: affine, coordinates in Montgomery form (R = 2^256 or 2^384), little-endian, G2
 *   as c0‖c1, infinity all zero (zkey).
 * `canonical-be`: Zcash's uncompressed form, G2 as c1‖c0; infinity has no place in it (bellman's
 *   readers refuse its flag).
 */
export type PointForm = 'montgomery-le' | 'canonical-be';

/** G1 (T = bigint, B = G1Bytes) or G2 (T = Fp2, B = G2Bytes) of one curve. */
export interface PointGroup<T, B extends Uint8Array> {
  readonly name: 'G1' | 'G2';
  readonly curve: Curve;
  readonly montgomery: Montgomery;
  readonly Point: WeierstrassPointCons<T>;
  /** Of an affine point, in every form: 2 or 4 field elements. */
  readonly byteLength: number;
  /** Coefficients of a coordinate, c0 first. */
  readonly split: (coordinate: T) => readonly bigint[];
  readonly join: (coefficients: readonly bigint[]) => T;
  /** Carries the type of the canonical bytes; no value. */
  readonly __bytes?: B;
}

/** R mod q and its inverse, R = 2^(8·fpBytes): the radix of 64-bit and of 32-bit limbs alike. */
interface Montgomery {
  readonly r: bigint;
  readonly rInverse: bigint;
}

function montgomeryOf(curve: Curve): Montgomery {
  const r = (1n << BigInt(8 * curve.fpBytes)) % curve.q;
  return { r, rInverse: curve.noble.fields.Fp.inv(r) };
}

export function g1Of(name: CurveName): PointGroup<bigint, G1Bytes> {
  const curve = curveOf(name);
  return {
    name: 'G1',
    curve,
    montgomery: montgomeryOf(curve),
    Point: curve.noble.G1.Point,
    byteLength: 2 * curve.fpBytes,
    split: (x) => [x],
    join: ([x]) => x as bigint,
  };
}

export function g2Of(name: CurveName): PointGroup<Fp2, G2Bytes> {
  const curve = curveOf(name);
  return {
    name: 'G2',
    curve,
    montgomery: montgomeryOf(curve),
    Point: curve.noble.G2.Point,
    byteLength: 4 * curve.fpBytes,
    split: (x) => [x.c0, x.c1],
    join: ([c0, c1]) => ({ c0: c0 as bigint, c1: c1 as bigint }),
  };
}

/**
 * The point of canonical bytes (all zero: infinity), checked: coordinates below q, on the
 * curve, of order r.
 * @throws ERR_FORMAT that names `subject`
 */
export function pointFromBytes<T, B extends Uint8Array>(
  group: PointGroup<T, B>,
  subject: string,
  bytes: B,
): WeierstrassPoint<T> {
  const point = pointFromCheckedBytes(group, subject, bytes);
  checkPoint(group, subject, point);
  return point;
}

/** The same of bytes that are known to be of a point of the group: only coordinates are checked. */
export function pointFromCheckedBytes<T, B extends Uint8Array>(
  group: PointGroup<T, B>,
  subject: string,
  bytes: B,
): WeierstrassPoint<T> {
  checkLength(group, subject, bytes);
  if (isAllZero(bytes)) return group.Point.ZERO;
  return fromCoefficients(group, subject, readCanonical(group, bytes));
}

export function pointToBytes<T, B extends Uint8Array>(
  group: PointGroup<T, B>,
  point: WeierstrassPoint<T>,
): B {
  if (point.is0()) return new Uint8Array(group.byteLength) as B;
  return writeCanonical(group, coefficientsOf(group, point)) as B;
}

/**
 * The point of a query's bytes; its coordinates are below q, nothing else is checked
 * (`checkPoint` does that).
 * @throws ERR_FORMAT that names `subject`; also for infinity where the form has none
 */
export function pointFromForm<T, B extends Uint8Array>(
  group: PointGroup<T, B>,
  form: PointForm,
  subject: string,
  bytes: Uint8Array,
): WeierstrassPoint<T> {
  checkLength(group, subject, bytes);
  if (form === 'canonical-be') {
    if (((bytes[0] as number) & 0x40) !== 0) {
      throw formatError(subject, 'a finite point', 'the point at infinity');
    }
    return fromCoefficients(group, subject, readCanonical(group, bytes));
  }
  if (isAllZero(bytes)) return group.Point.ZERO;
  return fromCoefficients(group, subject, readMontgomery(group, bytes));
}

/** The bytes of a point in a query. Infinity in `canonical-be` is a bug of the caller. */
export function pointToForm<T, B extends Uint8Array>(
  group: PointGroup<T, B>,
  form: PointForm,
  point: WeierstrassPoint<T>,
): Uint8Array {
  if (point.is0()) {
    assert(form === 'montgomery-le', 'canonical-be: expected a finite point, got infinity');
    return new Uint8Array(group.byteLength);
  }
  const coefficients = coefficientsOf(group, point);
  if (form === 'canonical-be') return writeCanonical(group, coefficients);
  return writeMontgomery(group, coefficients);
}

/** @throws ERR_FORMAT that names `subject`, unless on the curve and of order r, or infinity */
export function checkPoint<T, B extends Uint8Array>(
  group: PointGroup<T, B>,
  subject: string,
  point: WeierstrassPoint<T>,
): void {
  if (point.is0()) return;
  const { Fp } = group.Point;
  const { x, y } = point.toAffine();
  const right = Fp.add(Fp.mul(Fp.sqr(x), x), group.Point.CURVE().b);
  const where = `${group.curve.name} ${group.name}`;
  if (!Fp.eql(Fp.sqr(y), right)) {
    throw formatError(subject, `a point of ${where}`, 'a point off the curve');
  }
  if (!point.isTorsionFree()) {
    throw formatError(subject, `a point of ${where}`, 'a point of the curve outside the group');
  }
}

/** x then y, each c0 first. */
function coefficientsOf<T, B extends Uint8Array>(
  group: PointGroup<T, B>,
  point: WeierstrassPoint<T>,
): readonly bigint[] {
  const { x, y } = point.toAffine();
  return [...group.split(x), ...group.split(y)];
}

function fromCoefficients<T, B extends Uint8Array>(
  group: PointGroup<T, B>,
  subject: string,
  coefficients: readonly bigint[],
): WeierstrassPoint<T> {
  if (coefficients.some((c) => c >= group.curve.q)) {
    throw formatError(subject, 'coordinates below the field modulus', 'a larger one');
  }
  if (coefficients.every((c) => c === 0n)) {
    throw formatError(subject, `a point of ${group.curve.name} ${group.name}`, 'the origin');
  }
  const half = coefficients.length / 2;
  const [x, y] = [coefficients.slice(0, half), coefficients.slice(half)];
  if (y.every((c) => c === 0n)) {
    // Such a point would be of order 2; noble has no form for it.
    throw formatError(subject, `a point of ${group.curve.name} ${group.name}`, 'y = 0');
  }
  return group.Point.fromAffine({ x: group.join(x), y: group.join(y) });
}

/** Coefficients of a coordinate stand most significant first: c1 before c0. */
function readCanonical<T, B extends Uint8Array>(
  group: PointGroup<T, B>,
  bytes: Uint8Array,
): bigint[] {
  return swapCoefficients(group, chunksOf(group, bytes).map(readBigIntBE));
}

function writeCanonical<T, B extends Uint8Array>(
  group: PointGroup<T, B>,
  coefficients: readonly bigint[],
): Uint8Array {
  const { fpBytes } = group.curve;
  const bytes = new Uint8Array(group.byteLength);
  swapCoefficients(group, coefficients).forEach((c, i) => {
    bytes.set(writeBigIntBE(c, fpBytes), i * fpBytes);
  });
  return bytes;
}

function swapCoefficients<T, B extends Uint8Array>(
  group: PointGroup<T, B>,
  [a, b, c, d]: readonly bigint[],
): bigint[] {
  return (group.name === 'G1' ? [a, b] : [b, a, d, c]) as bigint[];
}

function readMontgomery<T, B extends Uint8Array>(
  group: PointGroup<T, B>,
  bytes: Uint8Array,
): bigint[] {
  const { q } = group.curve;
  const { rInverse } = group.montgomery;
  return chunksOf(group, bytes).map((chunk) => {
    const value = readBigIntLE(chunk);
    return value < q ? (value * rInverse) % q : value;
  });
}

function writeMontgomery<T, B extends Uint8Array>(
  group: PointGroup<T, B>,
  coefficients: readonly bigint[],
): Uint8Array {
  const { fpBytes, q } = group.curve;
  const { r } = group.montgomery;
  const bytes = new Uint8Array(group.byteLength);
  coefficients.forEach((c, i) => {
    bytes.set(writeBigIntLE((c * r) % q, fpBytes), i * fpBytes);
  });
  return bytes;
}

function chunksOf<T, B extends Uint8Array>(
  group: PointGroup<T, B>,
  bytes: Uint8Array,
): Uint8Array[] {
  const { fpBytes } = group.curve;
  return Array.from({ length: bytes.length / fpBytes }, (_, i) =>
    bytes.subarray(i * fpBytes, (i + 1) * fpBytes),
  );
}

function checkLength<T, B extends Uint8Array>(
  group: PointGroup<T, B>,
  subject: string,
  bytes: Uint8Array,
): void {
  if (bytes.length === group.byteLength) return;
  throw formatError(subject, `${group.byteLength} bytes`, `${bytes.length}`);
}

function isAllZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0);
}
