import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { chachaBlock } from '../../../../src/circuits/filecoin/chacha.ts';
import { type GraphRules, StackedGraph } from '../../../../src/circuits/filecoin/graph.ts';
import { readBigIntLE } from '../../../../src/core/bytes.ts';
import { labelLayers } from '../../../support/seal.ts';

const V1_0: GraphRules = { predecessorFirst: false, truncatesExpansion: true };
const V1_1: GraphRules = { predecessorFirst: true, truncatesExpansion: false };
const ID_5 = Uint8Array.from([5, ...new Array(31).fill(0)]);

it('makes the ChaCha20 block of RFC 8439, section 2.3.2', () => {
  const key = Uint32Array.from({ length: 8 }, (_, i) => 0x03020100 + 0x04040404 * i);
  const block = chachaBlock(key, [1, 0x09000000, 0x4a000000, 0], 20);
  expect(block.slice(0, 2)).toEqual(Uint32Array.of(0xe4e7f110, 0x15593bd1));
  expect(block.at(-1)).toBe(0x4e3c50a2);
});

// rust-fil-proofs' parent_cache.json: SHA-256 of the parents of all 64 nodes, u32 little-endian each.
it.each([
  [new Uint8Array(32), V1_0, '3da49221e2ed55371b86d0bf3d6526fcf128af61bed904f966428db1b531750d'],
  [ID_5, V1_1, '840057702eea7652cf97e04306c30fe57174714d90de156a25eddd6075c25b97'],
])('draws the parents of the reference', (porepId, rules, digest) => {
  const graph = new StackedGraph(64, porepId, rules);
  const parents = Array.from({ length: 64 }, (_, node) => graph.parents(node)).flat();
  const bytes = new Uint8Array(Uint32Array.from(parents).buffer);
  expect(createHash('sha256').update(bytes).digest('hex')).toBe(digest);
});

// storage-proofs-porep, create_label/multi.rs, test_create_labels: limbs of 64 bits, lowest first.
it.each([
  [64, 0, V1_0, 'd3faa96b9a0fba04 ea81a283d106485e e3d51b9afa5ac2b3 0462f4f4f1a68d37'],
  [128, 0, V1_0, '7e191e52c4a8da86 5ae8a1c9e6fac148 ce239f3b88a894b8 234c00d1dc1d53be'],
  [64, 123, V1_1, 'abb3f38bb70defcf 777a2e4d7769119f 3448959d495490bc 06021188c7a71cb5'],
  [128, 123, V1_1, '22ab81cf68c4676d 7a77a82fc7c9c189 c6c03d32c1e42d23 0f777c18cc2c55bd'],
])('labels %i nodes as the reference does', (nodes, id, rules, limbs) => {
  const graph = new StackedGraph(nodes, new Uint8Array(32).fill(id), rules);
  const replicaId = readBigIntLE(new Uint8Array(32).fill(9));
  const labels = labelLayers(graph, nodes, 11, replicaId);
  expect(labels.at(-1)?.at(-1)).toBe(BigInt(`0x${limbs.split(' ').reverse().join('')}`));
});

it('keeps the error of V1_0 where indices need more than 32 bits', () => {
  const nodes = 2 ** 30;
  const [right, truncated] = [V1_1, V1_0].map((rules) =>
    new StackedGraph(nodes, ID_5, rules).expParents(nodes - 1),
  ) as [number[], number[]];
  const limit = 2 ** 32 / 8;
  expect(right.some((parent) => parent >= limit)).toBe(true);
  expect(truncated).toEqual(right.map((parent) => parent % limit));
});
