import { readBigIntLE, writeBigIntLE } from '../core/bytes.ts';
import { formatError, ProverError } from '../core/errors.ts';
import { curveOf, type FrCanonicalLE } from '../math/curve.ts';
import { Pacer } from '../math/pacer.ts';
import {
  type G1Point,
  type G2Point,
  g1Of,
  g2Of,
  pointFromBytes,
  pointFromCheckedBytes,
} from '../math/points.ts';
import type { Proof, VerifyingKey } from './types.ts';
import { sumInTypeScript, type WeightedSum } from './weighted-sum.ts';

/**
 * `malformed` is there when the inputs cannot be a statement and a proof of this key at all (wrong
 * count, value not below its modulus, point outside its group): bad input, not a false proof.
 */
export type Verdict =
  | { readonly valid: true }
  | { readonly valid: false; readonly reason: string; readonly malformed?: ProverError };

/** Keys whose points are known to be on their curves and in their groups. */
const CHECKED = new WeakSet<VerifyingKey>();
/** For who has checked the points of a key, or knows that its file was checked before. */
export function declareChecked(vk: VerifyingKey): VerifyingKey {
  CHECKED.add(vk);
  return vk;
}

/**
 * e(A, B) = e(alpha, beta) · e(Σ x_i·ic_i, gamma) · e(C, delta) with x_0 = 1 (eprint 2016/260,
 * section 3.2). As bellman does, and unlike snarkjs, it refuses a proof that holds a point at
 * infinity.
 * @param publicInputs x_1, x_2, ...: without the constant 1
 * @throws ERR_FORMAT for a bad verifying key, ERR_CANCELLED
 */
export async function verify(
  vk: VerifyingKey,
  publicInputs: readonly FrCanonicalLE[],
  proof: Proof,
  signal: AbortSignal = new AbortController().signal,
  weightedSum: WeightedSum = sumInTypeScript,
): Promise<Verdict> {
  const pacer = new Pacer(signal);
  const key = await readKey(vk, pacer);
  let points: ProofPoints;
  try {
    checkPublicInputs(vk, publicInputs);
    points = readProof(vk, proof);
  } catch (thrown) {
    if (!(thrown instanceof ProverError)) throw thrown;
    return { valid: false, reason: thrown.message, malformed: thrown };
  }
  const infinite = (['a', 'b', 'c'] as const).find((name) => points[name].is0());
  if (infinite !== undefined) {
    return { valid: false, reason: `proof.${infinite}: expected a finite point, got infinity` };
  }
  const scalars = [writeBigIntLE(1n, 32) as FrCanonicalLE, ...publicInputs];
  const sum = await weightedSum({ curve: vk.curve, points: vk.ic, scalars, signal });
  const statement = pointFromCheckedBytes(g1Of(vk.curve), 'statement', sum);
  const holds = productIsOne(vk, [
    [points.a, points.b],
    [key.alpha.negate(), key.beta],
    [statement.negate(), key.gamma],
    [points.c.negate(), key.delta],
  ]);
  return holds ? { valid: true } : { valid: false, reason: 'the pairing equation does not hold' };
}

interface ProofPoints {
  readonly a: G1Point;
  readonly b: G2Point;
  readonly c: G1Point;
}

interface KeyPoints {
  readonly alpha: G1Point;
  readonly beta: G2Point;
  readonly gamma: G2Point;
  readonly delta: G2Point;
}

/** Checks the points of a key, once: of a full partition of WindowPoSt there are 25,840. */
async function readKey(vk: VerifyingKey, pacer: Pacer): Promise<KeyPoints> {
  const [g1, g2] = [g1Of(vk.curve), g2Of(vk.curve)];
  const isChecked = CHECKED.has(vk);
  const read = isChecked ? pointFromCheckedBytes : pointFromBytes;
  const key: KeyPoints = {
    alpha: read(g1, 'verifying key alpha', vk.alphaG1),
    beta: read(g2, 'verifying key beta', vk.betaG2),
    gamma: read(g2, 'verifying key gamma', vk.gammaG2),
    delta: read(g2, 'verifying key delta', vk.deltaG2),
  };
  // A zkey has infinity in `ic` for an input that no row uses.
  for (const [i, bytes] of isChecked ? [] : vk.ic.entries()) {
    pointFromBytes(g1, `verifying key ic[${i}]`, bytes);
    if (pacer.due) await pacer.pause();
  }
  for (const name of ['alpha', 'beta', 'gamma', 'delta'] as const) {
    if (!key[name].is0()) continue;
    throw formatError(`verifying key ${name}`, 'a finite point', 'the point at infinity');
  }
  CHECKED.add(vk);
  return key;
}

function checkPublicInputs(vk: VerifyingKey, inputs: readonly FrCanonicalLE[]): void {
  const expected = vk.ic.length - 1;
  if (inputs.length !== expected) {
    throw formatError('public inputs', `${expected} of them`, inputs.length);
  }
  const { r } = curveOf(vk.curve);
  for (const [i, bytes] of inputs.entries()) {
    if (bytes.length !== 32) {
      throw formatError(`public input ${i}`, '32 bytes', bytes.length);
    }
    if (readBigIntLE(bytes) >= r) {
      throw formatError(`public input ${i}`, 'a value below the group order', 'a larger one');
    }
  }
}

function readProof(vk: VerifyingKey, proof: Proof): ProofPoints {
  if (proof.curve !== vk.curve) throw formatError('proof', `curve ${vk.curve}`, proof.curve);
  const [g1, g2] = [g1Of(vk.curve), g2Of(vk.curve)];
  return {
    a: pointFromBytes(g1, 'proof.a', proof.a),
    b: pointFromBytes(g2, 'proof.b', proof.b),
    c: pointFromBytes(g1, 'proof.c', proof.c),
  };
}

/** Π e(p, q) = 1. A pair with a point at infinity contributes 1; noble refuses such pairs. */
function productIsOne(vk: VerifyingKey, pairs: readonly (readonly [G1Point, G2Point])[]): boolean {
  const { noble } = curveOf(vk.curve);
  const finite = pairs.filter(([p, q]) => !p.is0() && !q.is0());
  const product = noble.pairingBatch(finite.map(([g1, g2]) => ({ g1, g2 })));
  return noble.fields.Fp12.eql(product, noble.fields.Fp12.ONE);
}
