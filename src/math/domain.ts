import { assert } from '../core/assert.ts';
import { type Curve, type CurveName, curveOf } from './curve.ts';
import type { Pacer } from './pacer.ts';

/**
 * How a key's h query represents the quotient polynomial: by its coefficients (bellman parameters)
 * or by values at the odd points of the domain of twice the size (zkey).
 */
export type QuotientBasis = 'monomial' | 'odd-lagrange';

/**
 * Non-residues g whose powers g^((r-1)/2^k) are the roots of unity. bellman takes the
 * multiplicative generator of the field (7 in blstrs), ffjavascript the smallest non-residue: a key
 * fits one family only.
 */
const ROOT_GENERATORS: Readonly<Record<CurveName, Readonly<Record<QuotientBasis, bigint>>>> = {
  bn254: { monomial: 5n, 'odd-lagrange': 5n },
  'bls12-381': { monomial: 7n, 'odd-lagrange': 5n },
};

/** Steps of a loop between two looks at the clock; about 1 ms. */
export const STEPS_A_LOOK = 1024;

/** The domain of 2^logN rows that goes with a key's basis. */
export function domainOf(curve: CurveName, basis: QuotientBasis, logN: number): Domain {
  return new Domain(curveOf(curve), ROOT_GENERATORS[curve][basis], logN);
}

/** The powers root^0 .. root^(n-1) of a primitive n-th root of unity in F_r, n = 2^logN. */
export class Domain {
  readonly curve: Curve;
  /** A non-residue, so outside every domain: shifts the domain to a coset of it. */
  readonly generator: bigint;
  readonly logN: number;
  readonly size: number;
  readonly root: bigint;

  constructor(curve: Curve, generator: bigint, logN: number) {
    assert(
      logN >= 0 && (curve.r - 1n) % 2n ** BigInt(logN) === 0n,
      'domain: no such root of unity',
    );
    this.curve = curve;
    this.generator = generator;
    this.logN = logN;
    this.size = 2 ** logN;
    this.root = curve.noble.fields.Fr.pow(generator, (curve.r - 1n) / BigInt(this.size));
  }

  /** Coefficients to values at root^i. `values`: n elements below r, natural order; in place. */
  async ntt(values: bigint[], pacer: Pacer): Promise<void> {
    await this.#transform(values, this.root, pacer);
  }

  /** Values at root^i to coefficients. `values`: n elements below r, natural order; in place. */
  async intt(values: bigint[], pacer: Pacer): Promise<void> {
    const { Fr } = this.curve.noble.fields;
    await this.#transform(values, Fr.inv(this.root), pacer);
    await this.scale(values, Fr.inv(BigInt(this.size) % this.curve.r), 1n, pacer);
  }

  /**
   * values[i] ← values[i] · first · ratio^i: with the ratio g it moves a polynomial f(x) to f(g·x).
   */
  async scale(values: bigint[], first: bigint, ratio: bigint, pacer: Pacer): Promise<void> {
    const { r } = this.curve;
    let factor = first;
    for (let i = 0; i < values.length; i++) {
      values[i] = ((values[i] as bigint) * factor) % r;
      factor = (factor * ratio) % r;
      if (i % STEPS_A_LOOK === 0 && pacer.due) await pacer.pause();
    }
  }

  /** x^n - 1, the polynomial that vanishes on the domain, at `point`. */
  vanishingAt(point: bigint): bigint {
    const { Fr } = this.curve.noble.fields;
    return Fr.sub(Fr.pow(point, BigInt(this.size)), Fr.ONE);
  }

  /**
   * All n Lagrange polynomials at a point outside the domain:
   * L_i(x) = (x^n - 1)/n · root^i / (x - root^i).
   */
  async lagrangeAt(point: bigint, pacer: Pacer): Promise<bigint[]> {
    const { Fr } = this.curve.noble.fields;
    const { r } = this.curve;
    const vanishing = this.vanishingAt(point);
    assert(vanishing !== 0n, 'lagrangeAt: expected a point outside the domain');
    const differences: bigint[] = [];
    for (let i = 0, power = 1n; i < this.size; i++, power = (power * this.root) % r) {
      differences.push(Fr.sub(point, power));
      if (i % STEPS_A_LOOK === 0 && pacer.due) await pacer.pause();
    }
    await invertAll(differences, this.curve, pacer);
    await this.scale(differences, Fr.div(vanishing, BigInt(this.size)), this.root, pacer);
    return differences;
  }

  /** Decimation in time (Cooley-Tukey): bit reversal, then log n passes of butterflies. */
  async #transform(values: bigint[], root: bigint, pacer: Pacer): Promise<void> {
    assert(values.length === this.size, `ntt: expected ${this.size} values, got ${values.length}`);
    const { r } = this.curve;
    reverseBits(values);
    const powers = await powersOf(root, this.size / 2, r, pacer);
    for (let half = 1; half < this.size; half *= 2) {
      const stride = this.size / (2 * half);
      for (let step = 0; step < this.size / 2; step++) {
        const j = step % half;
        const low = 2 * (step - j) + j;
        const even = values[low] as bigint;
        const odd = ((values[low + half] as bigint) * (powers[j * stride] as bigint)) % r;
        const sum = even + odd;
        const difference = even - odd;
        values[low] = sum >= r ? sum - r : sum;
        values[low + half] = difference < 0n ? difference + r : difference;
        if (step % STEPS_A_LOOK === 0 && pacer.due) await pacer.pause();
      }
    }
  }
}

async function powersOf(base: bigint, count: number, r: bigint, pacer: Pacer): Promise<bigint[]> {
  const powers: bigint[] = [];
  for (let i = 0, power = 1n; i < count; i++, power = (power * base) % r) {
    powers.push(power);
    if (i % STEPS_A_LOOK === 0 && pacer.due) await pacer.pause();
  }
  return powers;
}

/** In place, none zero, with one inversion (Montgomery 1987, section 10.3.1). */
async function invertAll(values: bigint[], curve: Curve, pacer: Pacer): Promise<void> {
  const { r } = curve;
  const products: bigint[] = [];
  let product = 1n;
  for (let i = 0; i < values.length; i++) {
    products.push(product);
    product = (product * (values[i] as bigint)) % r;
    if (i % STEPS_A_LOOK === 0 && pacer.due) await pacer.pause();
  }
  let inverse = curve.noble.fields.Fr.inv(product);
  for (let i = values.length - 1; i >= 0; i--) {
    const value = values[i] as bigint;
    values[i] = (inverse * (products[i] as bigint)) % r;
    inverse = (inverse * value) % r;
    if (i % STEPS_A_LOOK === 0 && pacer.due) await pacer.pause();
  }
}

/** Moves each value to the index with the bits reversed; `j` counts up from its top bit. */
function reverseBits(values: bigint[]): void {
  for (let i = 0, j = 0; i < values.length; i++) {
    if (i < j) [values[i], values[j]] = [values[j] as bigint, values[i] as bigint];
    for (let bit = values.length >> 1; bit > 0; bit >>= 1) {
      j ^= bit;
      if ((j & bit) !== 0) break;
    }
  }
}
