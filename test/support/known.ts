import { writeBigIntLE } from '../../src/core/bytes.ts';
import type { ToxicWaste } from '../../src/groth16/toxic-waste.ts';
import type { Blinding } from '../../src/groth16/types.ts';
import type { FrCanonicalLE } from '../../src/math/curve.ts';
import { scalarOf } from './system.ts';

/** The secrets behind every key and proof of `test/golden`. Below the r of BLS12-381. */
export function knownWaste(): ToxicWaste {
  const secret = (name: string) => scalarOf(`proofline test setup ${name}`);
  return {
    alpha: secret('alpha'),
    beta: secret('beta'),
    gamma: secret('gamma'),
    delta: secret('delta'),
    tau: secret('tau'),
  };
}

export function knownBlinding(): Blinding {
  return { r: blind('r'), s: blind('s') };
}

function blind(name: string): FrCanonicalLE {
  return writeBigIntLE(scalarOf(`proofline test proof ${name}`), 32) as FrCanonicalLE;
}
