import { createHash } from 'node:crypto';
import { ChaCha8Rng } from './chacha.ts';
import { DRG_PARENTS, EXP_PARENTS } from './sector-size.ts';

/** How an API version draws parents; see `registered-proof.ts`. */
export interface GraphRules {
  /** Whether the node before a node is its first DRG parent, or its last. */
  readonly predecessorFirst: boolean;
  /** Whether permuted indices lose all but 32 bits, an error that sealed sectors keep. */
  readonly truncatesExpansion: boolean;
}

const FEISTEL_ROUNDS = 3;

/** The parents of nodes that labels are made of, drawn from a PoRep id. */
export class StackedGraph {
  readonly #nodes: number;
  readonly #rules: GraphRules;
  readonly #drgSeed: Uint8Array;
  readonly #keys: readonly bigint[];
  readonly #halfBits: bigint;

  /** @param porepId 32 bytes */
  constructor(nodes: number, porepId: Uint8Array, rules: GraphRules) {
    this.#nodes = nodes;
    this.#rules = rules;
    this.#drgSeed = seedOf('Filecoin_DRSample', porepId).subarray(0, 28);
    const keys = seedOf('Filecoin_Feistel', porepId);
    this.#keys = Array.from({ length: FEISTEL_ROUNDS }, (_, i) => keys.readBigUInt64LE(8 * i));
    this.#halfBits = BigInt(Math.ceil(Math.log2(nodes * EXP_PARENTS) / 2));
  }

  /** DRG parents, then expander parents. */
  parents(node: number): number[] {
    return [...this.drgParents(node), ...this.expParents(node)];
  }

  /** Bucket sampling: Alwen, Blocki and Harsha, CCS 2017, algorithm 3; storage-proofs-core. */
  drgParents(node: number): number[] {
    if (node < 2) return new Array(DRG_PARENTS).fill(0);
    const seed = Buffer.alloc(32);
    seed.set(this.#drgSeed);
    seed.writeUInt32LE(node, 28);
    const rng = new ChaCha8Rng(seed);
    const drawn = DRG_PARENTS - 1;
    const metaNode = BigInt(node * drawn);
    const buckets = BigInt((metaNode - 1n).toString(2).length);
    const parents = Array.from({ length: drawn }, () => {
      const bucket = (rng.nextU64() % buckets) + 1n;
      const largest = min(metaNode, 1n << bucket);
      const smallest = largest >> 1n > 2n ? largest >> 1n : 2n;
      const distance = smallest + (rng.nextU64() % (largest - smallest + 1n));
      const parent = Number((metaNode - distance) / BigInt(drawn));
      return parent === node ? node - 1 : parent;
    });
    return this.#rules.predecessorFirst ? [node - 1, ...parents] : [...parents, node - 1];
  }

  expParents(node: number): number[] {
    return Array.from({ length: EXP_PARENTS }, (_, k) => {
      const permuted = this.#permute(BigInt(node * EXP_PARENTS + k));
      const index = this.#rules.truncatesExpansion ? BigInt.asUintN(32, permuted) : permuted;
      return Number(index / BigInt(EXP_PARENTS));
    });
  }

  /** A Feistel network over a power of four, walked along its cycle until it is inside. */
  #permute(index: bigint): bigint {
    const size = BigInt(this.#nodes * EXP_PARENTS);
    const half = this.#halfBits;
    const mask = (1n << half) - 1n;
    let value = index;
    do {
      let [left, right] = [value >> half, value & mask];
      for (const key of this.#keys) [left, right] = [right, left ^ (roundOf(right, key) & mask)];
      value = (left << half) | right;
    } while (value >= size);
    return value;
  }
}

/** The first eight bytes of BLAKE2b-512, all big-endian. */
function roundOf(right: bigint, key: bigint): bigint {
  const message = Buffer.alloc(16);
  message.writeBigUInt64BE(right, 0);
  message.writeBigUInt64BE(key, 8);
  return createHash('blake2b512').update(message).digest().readBigUInt64BE(0);
}

function seedOf(tag: string, porepId: Uint8Array): Buffer {
  return createHash('sha256').update(tag).update(porepId).digest();
}

function min(x: bigint, y: bigint): bigint {
  return x < y ? x : y;
}
