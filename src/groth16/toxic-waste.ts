import { createHash } from 'node:crypto';
import { readBigIntLE } from '../core/bytes.ts';
import type { CurveName } from '../math/curve.ts';
import { drawScalar } from './blinding.ts';

/** The secrets of a setup, all of them below r and none zero. Who knows them can prove anything. */
export interface ToxicWaste {
  readonly alpha: bigint;
  readonly beta: bigint;
  readonly gamma: bigint;
  readonly delta: bigint;
  readonly tau: bigint;
}

export function drawToxicWaste(curve: CurveName): ToxicWaste {
  return wasteOf(() => readBigIntLE(drawScalar(curve)));
}

/** The same waste for the same seed: SHA-256 of seed, name and a counter in place of randomness. */
export function toxicWasteFromSeed(curve: CurveName, seed: string): ToxicWaste {
  return wasteOf((name) => {
    let counter = 0;
    const random = () =>
      createHash('sha256')
        .update(JSON.stringify([seed, name, counter++]))
        .digest();
    return readBigIntLE(drawScalar(curve, random));
  });
}

function wasteOf(draw: (name: keyof ToxicWaste) => bigint): ToxicWaste {
  return {
    alpha: draw('alpha'),
    beta: draw('beta'),
    gamma: draw('gamma'),
    delta: draw('delta'),
    tau: draw('tau'),
  };
}
