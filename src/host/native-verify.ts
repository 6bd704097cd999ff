import { availableParallelism } from 'node:os';
import { nativeWeightedSum } from '../../backends/cpu/weighted-sum.ts';
import type { Proof, VerifyingKey } from '../groth16/types.ts';
import { type Verdict, verify } from '../groth16/verify.ts';
import type { FrCanonicalLE } from '../math/curve.ts';

/** `verify`, its sum over the public inputs by native code where that is built. */
export function verifyProof(
  key: VerifyingKey,
  publicInputs: readonly FrCanonicalLE[],
  proof: Proof,
  signal: AbortSignal,
): Promise<Verdict> {
  return verify(key, publicInputs, proof, signal, nativeWeightedSum(availableParallelism()));
}
