import { describe, expect, it, type TestContext } from 'vitest';
import { type CpuAddon, loadAddon } from '../../../backends/cpu/addon.ts';

const loaded = loadAddon();

function addonOf(context: TestContext): CpuAddon {
  if ('reason' in loaded) context.skip(loaded.reason);
  return (loaded as { readonly addon: CpuAddon }).addon;
}

// Each of these would end the process if it left native code as it is thrown there.
describe('what the native prover cannot use is a TypeError', () => {
  const listener = () => {};
  const scalars = new Uint8Array(32);

  it('more threads than any machine has', (context) => {
    const addon = addonOf(context);
    const expected = 'threads: expected at most 4096';
    for (const threads of [-1, 4097, 2 ** 32 - 1]) {
      expect(() => addon.openPool(threads)).toThrow(new TypeError(expected));
    }
  });

  it('a curve or a form of another name', async (context) => {
    const addon = addonOf(context);
    const pool = addon.openPool(1);
    const curve = 'bls12-377' as 'bls12-381';
    const points = new Uint8Array(96);
    expect(() => addon.weightedSum(pool, curve, points, scalars, listener)).toThrow(
      new TypeError('curve: expected bn254 or bls12-381, got another name'),
    );
    const table = await addon.openTable(pool, 'bn254', 'G1', 1, listener).done;
    const form = 'montgomery-be' as 'montgomery-le';
    expect(() => addon.multiples(table, scalars, form, listener)).toThrow(
      new TypeError('points: expected montgomery-le or canonical-be, got another name'),
    );
  });
});
