import { randomBytes } from 'node:crypto';
import { readBigIntLE } from '../core/bytes.ts';
import { type CurveName, curveOf, type FrCanonicalLE } from '../math/curve.ts';
import type { Blinding } from './types.ts';

/** A fresh (r, s): every proof gets its own, or two proofs of one statement reveal the witness. */
export function drawBlinding(curve: CurveName): Blinding {
  return { r: drawScalar(curve), s: drawScalar(curve) };
}

/**
 * Uniform in F_r: as many random bits as r has, drawn again until they are below r. At least every
 * third draw succeeds on both curves.
 * @param random source of random bytes; another one is for tests only
 */
export function drawScalar(
  curve: CurveName,
  random: (length: number) => Uint8Array = randomBytes,
): FrCanonicalLE {
  const { r } = curveOf(curve);
  const excessBits = 256 - r.toString(2).length;
  for (;;) {
    const bytes = new Uint8Array(random(32));
    bytes[31] = (bytes[31] as number) & (0xff >> excessBits);
    if (readBigIntLE(bytes) < r) return bytes as FrCanonicalLE;
  }
}
