import { expect, it } from 'vitest';
import { ARBITRARY_TAG, poseidon } from '../../../src/math/poseidon.ts';

/** Digests of 0, 1, ..., arity - 1, from neptune's tests: four limbs of 64 bits, the lowest first. */
const NEPTUNE: readonly (readonly [number, string])[] = [
  [2, '2e203c369a02e7ff a6fba9339d05a69d 739e0fd902efe161 396508d75e76a56b'],
  [4, '019814ff6662075d fb6b4605bf1327ec 00db3c6579229399 58a54b10a9e5848a'],
  [8, '2a9934f56d38a5e6 4b682e9d9cc4aed9 1201004211677077 2394611da3a5de55'],
  [11, 'cee3bbc32b693163 09f3dcd8ccb08fc1 6ca537e232ebe87a 0c0fc1b2e5227f28'],
  [16, '1291c74060266d37 5b8dbc6d30680a6f c1c2fb5a6f871e63 2d3ae2663381ae8a'],
];

function fromLimbs(text: string): bigint {
  return BigInt(`0x${text.split(' ').reverse().join('')}`);
}

it.each(NEPTUNE)('gives the digest of neptune for arity %i', (arity, limbs) => {
  const preimage = Array.from({ length: arity }, (_, i) => BigInt(i));
  expect(poseidon(preimage)).toBe(fromLimbs(limbs));
});

it('gives the nodes of the tree over 1, 0, 0, 1', () => {
  const node = poseidon([1n, 0n]);
  const limbs = 'b339ff6079800b5e ec5907b3dc3094af 93c003cc74a24f26 042f94ffbe786bc3';
  expect(node).toBe(fromLimbs(limbs));
  expect(poseidon([node, poseidon([0n, 1n])])).toBe(
    fromLimbs('efbb8be3e291e671 77cc72b8cb2b5ad2 30eb6385ae6b74ae 1effebb7b26ad9eb'),
  );
});

it('separates by tag', () => {
  expect(poseidon([1n, 2n], ARBITRARY_TAG)).not.toBe(poseidon([1n, 2n]));
});
