import { createHash } from 'node:crypto';
import { readBigIntLE, writeBigIntLE } from '../../core/bytes.ts';
import { formatError } from '../../core/errors.ts';
import { NODE_BYTES } from './sector-size.ts';
import { leafIndex, type MerkleProof, type PathLevel } from './vanilla.ts';

/** The hash of a node's children. */
export type HashNode = (children: readonly bigint[]) => bigint;

/** SHA-256 with its two highest bits cleared. */
export const sha256Node: HashNode = (children) => {
  const hash = createHash('sha256');
  for (const child of children) hash.update(writeBigIntLE(child, NODE_BYTES));
  return BigInt.asUintN(254, readBigIntLE(hash.digest()));
};

/** The node that a path leads to from a leaf. */
export function climb(hash: HashNode, leaf: bigint, path: readonly PathLevel[]): bigint {
  return path.reduce((node, { siblings, index }) => hash(siblings.toSpliced(index, 0, node)), leaf);
}

/** What a Merkle proof has to show. */
export interface ExpectedPath {
  readonly hash: HashNode;
  readonly index: number;
  readonly root: bigint;
  /** For messages: `comm_c`. */
  readonly rootName: string;
}

/** @throws ERR_FORMAT naming `where`, unless the leaf stands under the root at the index */
export function checkPath(where: string, proof: MerkleProof, expected: ExpectedPath): void {
  const { hash, index, root, rootName } = expected;
  const actual = leafIndex(proof.path);
  if (actual !== index) throw formatError(`${where}: path`, `one of leaf ${index}`, `of ${actual}`);
  demand(proof.root === root, `${where}: root`, rootName);
  const leads = climb(hash, proof.leaf, proof.path) === root;
  demand(leads, `${where}: path`, `one that leads to ${rootName}`);
}

/** @throws ERR_FORMAT; values are never told */
export function demand(condition: boolean, subject: string, expected: string): void {
  if (!condition) throw formatError(subject, expected, 'another');
}
