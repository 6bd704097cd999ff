import { expect, it, type TestContext } from 'vitest';
import { loadAddon } from '../../../backends/cpu/addon.ts';
import { nativePoseidon } from '../../../backends/cpu/poseidon.ts';
import { curveOf } from '../../../src/math/curve.ts';
import { ARBITRARY_TAG, type Poseidon, poseidon } from '../../../src/math/poseidon.ts';
import { scalars } from '../../support/scalars.ts';

const { r } = curveOf('bls12-381');
const loaded = loadAddon();

function nativeOf(context: TestContext): Poseidon {
  if ('reason' in loaded) context.skip(loaded.reason);
  return nativePoseidon() as Poseidon;
}

for (const arity of [1, 2, 4, 8, 11, 24, 36]) {
  it(`of ${arity} elements equals the one in TypeScript`, (context) => {
    const native = nativeOf(context);
    for (const preimage of [
      scalars('bls12-381', arity),
      new Array<bigint>(arity).fill(0n),
      new Array<bigint>(arity).fill(r - 1n),
    ]) {
      expect(native(preimage)).toBe(poseidon(preimage));
      expect(native(preimage, ARBITRARY_TAG)).toBe(poseidon(preimage, ARBITRARY_TAG));
    }
  });
}

it('refuses what is no state of its width', (context) => {
  const native = nativeOf(context);
  const expected = new TypeError('state: expected elements below r');
  for (const wrong of [r, -1n, 2n ** 256n + 1n, 1 as unknown as bigint]) {
    expect(() => native([0n, wrong])).toThrow(expected);
  }
});

it('refuses constants that are not of its width', (context) => {
  if ('reason' in loaded) return context.skip(loaded.reason);
  const { addon } = loaded;
  const bytes = (elements: number) => new Uint8Array(32 * elements);
  const open = (width: number, keys: number, mds: number, before: number, sparse: number) =>
    addon.openPoseidon(width, bytes(keys), bytes(mds), bytes(before), bytes(sparse));
  const handle = open(3, 24 + 2, 9, 9, 2 * 5);
  expect(addon.poseidon(handle, [0n, 0n, 0n])).toBe(0n);
  expect(() => addon.poseidon(handle, [0n, 0n])).toThrow(TypeError);
  for (const [width, ...counts] of [
    [1, 9, 1, 1, 1],
    [41, 328, 1681, 1681, 0],
    [3, 25, 9, 9, 10],
    [3, 26, 8, 9, 10],
    [3, 26, 9, 8, 10],
    [3, 26, 9, 9, 9],
  ] as [number, number, number, number, number][]) {
    expect(() => open(width, ...counts)).toThrow(TypeError);
  }
  const large = bytes(26).fill(255);
  expect(() => addon.openPoseidon(3, large, bytes(9), bytes(9), bytes(10))).toThrow(TypeError);
  expect(() =>
    addon.openPoseidon(3, bytes(26).subarray(1), bytes(9), bytes(9), bytes(10)),
  ).toThrow();
});
