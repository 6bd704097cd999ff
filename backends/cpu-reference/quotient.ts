import type { Curve } from '../../src/math/curve.ts';
import { domainOf, type QuotientBasis, STEPS_A_LOOK } from '../../src/math/domain.ts';
import type { Pacer } from '../../src/math/pacer.ts';

/**
 * Scalars of the h query for the rows' values a and b, with c = a∘b, in the basis of the key:
 * monomial: the n - 1 coefficients of (a·b - c)/(x^n - 1).
 * odd-lagrange: a·b - c at the odd points of the domain of 2n, n values; h_i carries the division.
 * @param a,b n = 2^logN values below r, natural order; overwritten
 */
export async function quotient(
  curve: Curve,
  basis: QuotientBasis,
  a: bigint[],
  b: bigint[],
  pacer: Pacer,
): Promise<bigint[]> {
  const { r } = curve;
  const { Fr } = curve.noble.fields;
  const logN = Math.log2(a.length);
  const domain = domainOf(curve.name, basis, logN);
  // Moves the domain off itself, to where a·b - c is to be known.
  const shift =
    basis === 'monomial' ? domain.generator : domainOf(curve.name, basis, logN + 1).root;
  const c = await pointwise(a, b, (x, y) => (x * y) % r, pacer);
  for (const values of [a, b, c]) {
    await domain.intt(values, pacer);
    await domain.scale(values, 1n, shift, pacer);
    await domain.ntt(values, pacer);
  }
  const products = await pointwise(a, b, (x, y) => (x * y) % r, pacer);
  const numerator = await pointwise(products, c, (x, y) => (x < y ? x - y + r : x - y), pacer);
  if (basis === 'odd-lagrange') return numerator;
  // x^n - 1 has one value on the whole coset, since (shift·root^i)^n = shift^n.
  await domain.scale(numerator, Fr.inv(domain.vanishingAt(shift)), 1n, pacer);
  await domain.intt(numerator, pacer);
  await domain.scale(numerator, 1n, Fr.inv(shift), pacer);
  return numerator.slice(0, -1);
}

async function pointwise(
  a: readonly bigint[],
  b: readonly bigint[],
  combine: (x: bigint, y: bigint) => bigint,
  pacer: Pacer,
): Promise<bigint[]> {
  const result: bigint[] = [];
  for (let i = 0; i < a.length; i++) {
    result.push(combine(a[i] as bigint, b[i] as bigint));
    if (i % STEPS_A_LOOK === 0 && pacer.due) await pacer.pause();
  }
  return result;
}
