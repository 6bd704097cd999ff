import { assert } from '../core/assert.ts';
import { formatError } from '../core/errors.ts';
import { curveOf } from '../math/curve.ts';
import { type Domain, domainOf, type QuotientBasis } from '../math/domain.ts';
import type { Pacer } from '../math/pacer.ts';
import type { ConstraintSystemSource, Term } from '../r1cs/constraint-system.ts';
import type { ToxicWaste } from './toxic-waste.ts';

/** Discrete logarithms of a key's points, by wire; `l` by auxiliary variable, `ic` by input. */
export interface QueryScalars {
  readonly a: readonly bigint[];
  readonly b: readonly bigint[];
  readonly ic: readonly bigint[];
  readonly l: readonly bigint[];
  /** Non-zero coefficients of A and of B, input rows included. */
  readonly coefficientCount: number;
}

/**
 * The smallest domain for the constraints and one more row for each input.
 * @throws ERR_FORMAT for a system without constraints, or with more than the field has room for
 */
export function domainFor(source: ConstraintSystemSource, basis: QuotientBasis): Domain {
  const { constraintCount, inputCount, curve } = source;
  if (constraintCount === 0) throw formatError('constraint system', 'constraints', 'none');
  const logN = Math.ceil(Math.log2(constraintCount + inputCount));
  if (logN > LOG_N_MAX) {
    throw formatError('constraint system', `at most 2^${LOG_N_MAX} rows`, `2^${logN}`);
  }
  return domainOf(curve, basis, logN);
}

/** BN254 has roots of unity of order 2^28, and a zkey needs the domain of twice the size. */
const LOG_N_MAX = 27;

/**
 * A_w(tau), B_w(tau), and (beta·A_w + alpha·B_w + C_w)(tau) over gamma for inputs, over delta for
 * the rest (eprint 2016/260, section 3.2). Row i stands at root^i; rows constraintCount + k hold A
 * = {input k: 1}.
 * @throws ERR_FORMAT for a wire that the system does not have, or another number of constraints
 */
export async function queryScalars(
  source: ConstraintSystemSource,
  waste: ToxicWaste,
  domain: Domain,
  pacer: Pacer,
  progress: (share: number) => void = () => {},
): Promise<QueryScalars> {
  const { inputCount, constraintCount } = source;
  const { r, noble } = curveOf(source.curve);
  const lagrange = await domain.lagrangeAt(waste.tau, pacer);
  const wires = inputCount + source.auxCount;
  const [a, b, c] = [zeros(wires), zeros(wires), zeros(wires)];
  let coefficientCount = inputCount;
  const add = (sums: bigint[], terms: readonly Term[], weight: bigint): number => {
    let count = 0;
    for (const { wire, coefficient } of terms) {
      if (wire >= wires) throw formatError('constraint: wire', `below ${wires}`, wire);
      sums[wire] = ((sums[wire] as bigint) + coefficient * weight) % r;
      if (coefficient !== 0n) count++;
    }
    return count;
  };
  let row = 0;
  for await (const constraint of source.constraints()) {
    if (row === constraintCount) throw countError(constraintCount, 'more');
    const weight = lagrange[row++] as bigint;
    coefficientCount += add(a, constraint.a, weight) + add(b, constraint.b, weight);
    add(c, constraint.c, weight);
    if (pacer.due) {
      progress(row / constraintCount);
      await pacer.pause();
    }
  }
  if (row < constraintCount) throw countError(constraintCount, `${row}`);
  for (let input = 0; input < inputCount; input++) {
    add(a, [{ wire: input, coefficient: 1n }], lagrange[constraintCount + input] as bigint);
  }
  const combined = a.map(
    (value, wire) => waste.beta * value + waste.alpha * (b[wire] as bigint) + (c[wire] as bigint),
  );
  const [overGamma, overDelta] = [waste.gamma, waste.delta].map((x) => noble.fields.Fr.inv(x));
  return {
    a,
    b,
    ic: combined.slice(0, inputCount).map((value) => (value * (overGamma as bigint)) % r),
    l: combined.slice(inputCount).map((value) => (value * (overDelta as bigint)) % r),
    coefficientCount,
  };
}

/**
 * Logarithms of the h query. monomial: tau^i·(tau^n - 1)/delta for i < n - 1. odd-lagrange:
 * L_{2i+1}(tau)/delta for i < n, over the domain of 2n.
 */
export async function quotientScalars(
  domain: Domain,
  basis: QuotientBasis,
  waste: ToxicWaste,
  pacer: Pacer,
): Promise<readonly bigint[]> {
  const { curve, logN, size } = domain;
  const { Fr } = curve.noble.fields;
  const overDelta = Fr.inv(waste.delta);
  if (basis === 'monomial') {
    const first = Fr.mul(domain.vanishingAt(waste.tau), overDelta);
    const powers: bigint[] = new Array(size - 1).fill(1n);
    await domain.scale(powers, first, waste.tau, pacer);
    return powers;
  }
  const lagrange = await domainOf(curve.name, basis, logN + 1).lagrangeAt(waste.tau, pacer);
  const odd = lagrange.filter((_, i) => i % 2 === 1);
  await domain.scale(odd, overDelta, 1n, pacer);
  return odd;
}

function zeros(count: number): bigint[] {
  assert(count < 2 ** 32, 'wires: expected fewer than 2^32');
  return new Array<bigint>(count).fill(0n);
}

function countError(expected: number, actual: string) {
  return formatError('constraint system', `${expected} constraints`, actual);
}
