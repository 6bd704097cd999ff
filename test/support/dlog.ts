import { readBigIntLE } from '../../src/core/bytes.ts';
import { domainFor, queryScalars } from '../../src/groth16/query-scalars.ts';
import type { ToxicWaste } from '../../src/groth16/toxic-waste.ts';
import type { Blinding, Proof } from '../../src/groth16/types.ts';
import { curveOf } from '../../src/math/curve.ts';
import type { QuotientBasis } from '../../src/math/domain.ts';
import { Pacer } from '../../src/math/pacer.ts';
import { g1Of, g2Of, pointToBytes } from '../../src/math/points.ts';
import type { Example } from './system.ts';

/**
 * The only right proof for these secrets and this blinding, by arithmetic in F_r alone: no transform, no
 * multi-scalar multiplication, no key. Linear in the size of the system, so it checks proofs of any size
 * (2^17 rows took 0.7 s).
 *
 * A = alpha + a(tau) + r·delta, B = beta + b(tau) + s·delta, and C = (l + h)(tau) + s·A + r·B - rs·delta,
 * where h(tau)·(tau^n - 1) = a(tau)·b(tau) - c(tau), divided by delta as l is.
 */
export async function expectedProof(
  { system, values }: Example,
  waste: ToxicWaste,
  basis: QuotientBasis,
  blinding: Blinding,
): Promise<Proof> {
  const { curve, inputCount } = system;
  const { r: order, noble } = curveOf(curve);
  const { Fr } = noble.fields;
  const { alpha, beta, gamma, delta } = waste;
  const pacer = new Pacer(new AbortController().signal);
  const scalars = await queryScalars(system, waste, domainFor(system, basis), pacer);
  const dot = (logs: readonly bigint[], factors: readonly bigint[]): bigint =>
    logs.reduce((sum, log, i) => (sum + log * (factors[i] as bigint)) % order, 0n);
  const [a, b] = [dot(scalars.a, values), dot(scalars.b, values)];
  const l = dot(scalars.l, values.slice(inputCount));
  const ic = dot(scalars.ic, values.slice(0, inputCount));
  // ic·gamma + l·delta = beta·a + alpha·b + c over all wires.
  const c = Fr.create(ic * gamma + l * delta - beta * a - alpha * b);
  const h = Fr.div(Fr.create(a * b - c), delta);
  const [r, s] = [readBigIntLE(blinding.r), readBigIntLE(blinding.s)];
  const logA = Fr.create(alpha + a + r * delta);
  const logB = Fr.create(beta + b + s * delta);
  const logC = Fr.create(h + l + s * logA + r * logB - r * s * delta);
  const [g1, g2] = [g1Of(curve), g2Of(curve)];
  return {
    curve,
    a: pointToBytes(g1, g1.Point.BASE.multiplyUnsafe(logA)),
    b: pointToBytes(g2, g2.Point.BASE.multiplyUnsafe(logB)),
    c: pointToBytes(g1, g1.Point.BASE.multiplyUnsafe(logC)),
  };
}
