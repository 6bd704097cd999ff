import { describe, expect, it } from 'vitest';
import { type CurveName, curveOf } from '../../../src/math/curve.ts';
import { domainOf, type QuotientBasis } from '../../../src/math/domain.ts';
import { Pacer } from '../../../src/math/pacer.ts';
import { scalars } from '../../support/scalars.ts';

const FAMILIES: readonly [CurveName, QuotientBasis][] = [
  ['bn254', 'monomial'],
  ['bn254', 'odd-lagrange'],
  ['bls12-381', 'monomial'],
  ['bls12-381', 'odd-lagrange'],
];
const pacer = new Pacer(new AbortController().signal);

describe.each(FAMILIES)('domain of %s, %s', (name, basis) => {
  const { r, noble } = curveOf(name);
  const { Fr } = noble.fields;

  /** Σ coefficients[i]·x^i, term by term. */
  const evaluate = (coefficients: readonly bigint[], x: bigint): bigint =>
    coefficients.reduce((sum, c, i) => (sum + c * Fr.pow(x, BigInt(i))) % r, 0n);

  it.each([0, 1, 2, 5])(
    'ntt of 2^%i coefficients is their evaluation at each root',
    async (logN) => {
      const domain = domainOf(name, basis, logN);
      const coefficients = scalars(name, domain.size);
      const values = [...coefficients];
      await domain.ntt(values, pacer);
      const roots = values.map((_, i) => Fr.pow(domain.root, BigInt(i)));
      expect(values).toEqual(roots.map((root) => evaluate(coefficients, root)));
      await domain.intt(values, pacer);
      expect(values).toEqual(coefficients);
    },
  );

  it('has roots of the exact order, up to all that r allows', () => {
    const most = name === 'bn254' ? 28 : 32;
    const { root } = domainOf(name, basis, most);
    expect(Fr.pow(root, 2n ** BigInt(most))).toBe(1n);
    expect(Fr.pow(root, 2n ** BigInt(most - 1))).toBe(r - 1n);
    expect(() => domainOf(name, basis, most + 1)).toThrow('no such root');
  });

  it('interpolates with its Lagrange polynomials', async () => {
    const domain = domainOf(name, basis, 4);
    const coefficients = scalars(name, domain.size);
    const values = [...coefficients];
    await domain.ntt(values, pacer);
    const [point] = scalars(name, 1) as [bigint];
    const lagrange = await domain.lagrangeAt(point, pacer);
    const interpolated = lagrange.reduce((sum, l, i) => (sum + l * (values[i] as bigint)) % r, 0n);
    expect(interpolated).toBe(evaluate(coefficients, point));
    await expect(domain.lagrangeAt(domain.root, pacer)).rejects.toThrow('outside the domain');
  });

  it('scale moves a polynomial to a coset', async () => {
    const domain = domainOf(name, basis, 3);
    const coefficients = scalars(name, domain.size);
    const values = [...coefficients];
    await domain.scale(values, 1n, domain.generator, pacer);
    await domain.ntt(values, pacer);
    const points = values.map((_, i) => Fr.mul(domain.generator, Fr.pow(domain.root, BigInt(i))));
    expect(values).toEqual(points.map((point) => evaluate(coefficients, point)));
  });
});

it('takes the two root families of BLS12-381 from different generators', () => {
  const bellman = domainOf('bls12-381', 'monomial', 32).root;
  // blstrs src/scalar.rs: ROOT_OF_UNITY, out of Montgomery form.
  expect(bellman).toBe(0x16a2a19edfe81f20d09b681922c813b4b63683508c2280b93829971f439f0d2bn);
  expect(domainOf('bls12-381', 'odd-lagrange', 32).root).not.toBe(bellman);
});

describe('pauses', () => {
  it('lets the event loop run while it transforms', async () => {
    const domain = domainOf('bls12-381', 'monomial', 15);
    let turns = 0;
    const timer = setInterval(() => turns++, 1);
    await domain.ntt(scalars('bls12-381', domain.size), new Pacer(new AbortController().signal));
    clearInterval(timer);
    expect(turns).toBeGreaterThan(1);
  });

  it('stops when it is aborted', async () => {
    const controller = new AbortController();
    const domain = domainOf('bls12-381', 'monomial', 15);
    const done = domain.ntt(scalars('bls12-381', domain.size), new Pacer(controller.signal));
    controller.abort();
    await expect(done).rejects.toMatchObject({ code: 'ERR_CANCELLED' });
  });
});
