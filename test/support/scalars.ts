import { createHash } from 'node:crypto';
import { type CurveName, curveOf } from '../../src/math/curve.ts';

const SEED = process.env.SEED ?? 'proofline';
console.log(`SEED=${SEED}`);
let drawn = 0;

/** `count` elements below r, other ones at each call: full-size, with 0, 1, -1 and small ones in between. */
export function scalars(curve: CurveName, count: number): bigint[] {
  const { r } = curveOf(curve);
  const special = [0n, 1n, r - 1n, 2n, 255n, 2n ** 32n];
  return Array.from({ length: count }, () => {
    const draw = BigInt(`0x${sha256(`${SEED}/${drawn++}`)}`);
    const index = Number(draw & 0xfn);
    return special[index] ?? (draw >> 4n) % r;
  });
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
