import type { Wire } from '../../r1cs/linear-combination.ts';
import type { Recorder } from '../../r1cs/recorder.ts';
import type { Bit } from '../../r1cs/recorder-signals.ts';
import { insert } from './insertion.ts';
import { equal, pack, publishBits, reverseBytes, toBits, witness, witnessBit } from './number.ts';
import { poseidon } from './poseidon.ts';
import { sha256 } from './sha256.ts';

/** How the nodes of a tree are made of their children. */
export interface NodeHash {
  readonly name: string;
  readonly hash: (cs: Recorder, children: readonly Wire[]) => Wire;
}

export const POSEIDON_NODE: NodeHash = { name: 'poseidon', hash: poseidon };

/**
 * SHA-256 of the children's bytes, its two highest bits cleared: Filecoin's data tree.
 * @cost 256 constraints a child, those of the hash and 1: 45,379 for two (a child has 255 bits, so
 *       that two bits of the message are constant)
 */
export const SHA256_NODE: NodeHash = {
  name: 'sha256',
  hash: (cs, children) =>
    cs.template('sha256 node', children, (inner, own) => {
      const bits = own.map((child) => reverseBytes(toBits(inner, child)));
      return pack(inner, reverseBytes(sha256(inner, bits.flat())));
    }),
};

/**
 * That `node` is a leaf under `root`, at an index that becomes a public input. Private inputs: for
 * each level the bits of the node's place, the least significant first, and its siblings in order.
 * @param arities of the levels, bottom to top
 * @cost  2 constraints, and for each level log2(arity) and those of `insert` and of the hash
 */
export function inclusion(
  cs: Recorder,
  node: Wire,
  root: Wire,
  { hash, arities }: { readonly hash: NodeHash; readonly arities: readonly number[] },
): void {
  const index: Bit[] = [];
  let current = node;
  for (const [level, arity] of arities.entries()) {
    cs.scope(`level ${level}`, () => {
      const [parent, bits] = climb(cs, current, hash, arity);
      current = parent;
      index.push(...bits);
    });
  }
  cs.scope('root', () => {
    publishBits(cs, index);
    equal(cs, current, root);
  });
}

/** One level of `inclusion`: the parent, and the bits of the node's place. */
function climb(
  cs: Recorder,
  node: Wire,
  { name, hash }: NodeHash,
  arity: number,
): readonly [Wire, readonly Bit[]] {
  return cs.template(`${name} level ${arity}`, [node], (inner, [own]) => {
    const bits = Array.from({ length: Math.log2(arity) }, () => witnessBit(inner));
    const siblings = Array.from({ length: arity - 1 }, () => witness(inner));
    return [hash(inner, insert(inner, own, siblings, bits)), bits] as const;
  });
}

/**
 * That `node` is the leaf under `root` at the index of these bits, the least significant first.
 * @param levels siblings of each level, bottom to top
 * @cost  1 constraint, and for each level those of `insert` and of the hash
 */
export function inclusionAt(
  cs: Recorder,
  node: Wire,
  root: Wire,
  {
    hash,
    levels,
    index,
  }: {
    readonly hash: NodeHash;
    readonly levels: readonly (readonly Wire[])[];
    readonly index: readonly Bit[];
  },
): void {
  const left = [...index];
  let current = node;
  for (const [level, siblings] of levels.entries()) {
    const arity = siblings.length + 1;
    const inputs = [current, siblings, left.splice(0, Math.log2(arity))] as const;
    current = cs.scope(`level ${level}`, () =>
      cs.template(`${hash.name} level ${arity} at`, inputs, (inner, [own, others, bits]) =>
        hash.hash(inner, insert(inner, own, others, bits)),
      ),
    );
  }
  cs.scope('root', () => equal(cs, current, root));
}
