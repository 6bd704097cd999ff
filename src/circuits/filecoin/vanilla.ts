/**
 * Vanilla proofs: what the circuits prove to know, as a sealer hands it over. Numbers are below r.
 */

/** One level of a path: the node stands among its siblings at `index`. */
export interface PathLevel {
  readonly siblings: readonly bigint[];
  readonly index: number;
}

export interface MerkleProof {
  readonly root: bigint;
  readonly leaf: bigint;
  /** Bottom to top, through all parts of the tree. */
  readonly path: readonly PathLevel[];
}

/** The labels of one node, the first layer's first, and their hash's place in tree C. */
export interface ColumnProof {
  readonly index: number;
  readonly rows: readonly bigint[];
  readonly inclusion: MerkleProof;
}

/** What a label is the hash of. */
export interface LabelingProof {
  readonly parents: readonly bigint[];
  readonly layer: number;
  readonly node: bigint;
}

export interface PorepChallengeProof {
  readonly data: MerkleProof;
  readonly replica: MerkleProof;
  readonly column: ColumnProof;
  readonly drgParents: readonly ColumnProof[];
  readonly expParents: readonly ColumnProof[];
  readonly labelings: readonly LabelingProof[];
  readonly encoding: LabelingProof;
}

/** What PoRep's first phase puts out; its challenges are in partitions. */
export interface PorepVanilla {
  readonly commR: bigint;
  readonly commD: bigint;
  readonly replicaId: bigint;
  readonly seed: Uint8Array;
  readonly ticket: Uint8Array;
  readonly partitions: readonly (readonly PorepChallengeProof[])[];
}

/** A sector's leaves for a proof of spacetime. */
export interface SectorProof {
  readonly sector: bigint;
  readonly commR: bigint;
  readonly commC: bigint;
  readonly commRLast: bigint;
  readonly inclusions: readonly MerkleProof[];
}

export interface UpdateChallengeProof {
  readonly oldReplica: MerkleProof;
  readonly newData: MerkleProof;
  readonly newReplica: MerkleProof;
}

/** One partition of an update. */
export interface UpdateProof {
  readonly commC: bigint;
  readonly apexLeaves: readonly bigint[];
  readonly challenges: readonly UpdateChallengeProof[];
}

/** The index of a path's leaf. */
export function leafIndex(path: readonly PathLevel[]): number {
  let [index, weight] = [0, 1];
  for (const level of path) {
    index += level.index * weight;
    weight *= level.siblings.length + 1;
  }
  return index;
}
