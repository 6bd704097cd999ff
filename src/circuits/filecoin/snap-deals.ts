import { ARBITRARY_TAG } from '../../math/poseidon.ts';
import { LinearCombination, ONE, type Wire } from '../../r1cs/linear-combination.ts';
import { type Recorder, recordProgram } from '../../r1cs/recorder.ts';
import type { Bit, Literal } from '../../r1cs/recorder-signals.ts';
import { select } from '../gadgets/insertion.ts';
import { inclusionAt, POSEIDON_NODE, SHA256_NODE } from '../gadgets/merkle.ts';
import {
  add,
  CAPACITY,
  equal,
  FIELD_BITS,
  multiply,
  pack,
  publish,
  reduce,
  unpack,
  witness,
} from '../gadgets/number.ts';
import { poseidon } from '../gadgets/poseidon.ts';
import type { SectorConfig } from './sector-size.ts';

/** What all challenges of a partition share. */
interface Update {
  /** H(comm_d_new, comm_r_old), what the randomness of nodes is drawn from. */
  readonly phi: Wire;
  readonly rootROld: Wire;
  readonly rootRNew: Wire;
  readonly apexLeaves: readonly Wire[];
  readonly partitionBits: readonly Literal[];
  readonly highBitChoice: readonly Literal[];
}

/**
 * The EmptySectorUpdate circuit (storage-proofs-update): that a new replica encodes new data over
 * an old one. Public inputs: partition and choice of high bits in one number, comm_r_old,
 * comm_d_new, comm_r_new.
 */
export function snapDealsProgram(config: SectorConfig): Uint8Array {
  return recordProgram('snap-deals', (cs) => {
    const { update, commRNew, partition } = openUpdate(cs, config);
    const challenges = cs.scope('challenge bits', () =>
      drawChallenges(cs, config, commRNew, partition),
    );
    const { phi, rootROld, rootRNew, apexLeaves, partitionBits, highBitChoice } = update;
    const shared = [phi, rootROld, rootRNew, apexLeaves, partitionBits, highBitChoice] as const;
    for (const [i, index] of challenges.entries()) {
      cs.scope(`challenge ${i}`, () =>
        cs.template('challenge', [index, ...shared], (inner, [bits, ...own]) => {
          const [p, old, fresh, leaves, partitionBitsOwn, choice] = own;
          openChallenge(inner, config, bits, {
            ...{ phi: p, rootROld: old, rootRNew: fresh, apexLeaves: leaves },
            ...{ partitionBits: partitionBitsOwn, highBitChoice: choice },
          });
          return [];
        }),
      );
    }
  });
}

/**
 * Private inputs: the number of partition and choice, comm_r_old, comm_d_new, comm_r_new, comm_c,
 * the roots of the old and new tree R, the apex leaves, the siblings above the partition in tree D.
 */
function openUpdate(
  cs: Recorder,
  { snapDeals }: SectorConfig,
): { readonly update: Update; readonly commRNew: Wire; readonly partition: Wire } {
  const partitionAndChoice = witness(cs);
  publish(cs, partitionAndChoice);
  const partitionBitCount = Math.log2(snapDeals.partitions);
  const bits = unpack(cs, partitionAndChoice, partitionBitCount + snapDeals.highBits.length);
  const partitionBits = bits.slice(0, partitionBitCount);
  const partition = pack(cs, partitionBits);
  const [commROld, commDNew, commRNew] = [0, 1, 2].map(() => {
    const commitment = witness(cs);
    publish(cs, commitment);
    return commitment;
  }) as [Wire, Wire, Wire];
  const phi = cs.scope('phi', () => poseidon(cs, [commDNew, commROld], ARBITRARY_TAG));
  const [commC, rootROld, rootRNew] = [witness(cs), witness(cs), witness(cs)];
  const apexLeaves = Array.from({ length: snapDeals.apexLeaves }, () => witness(cs));
  const partitionPath = partitionBits.map(() => [witness(cs)]);
  cs.scope('comm_r_old', () => equal(cs, poseidon(cs, [commC, rootROld]), commROld));
  cs.scope('comm_r_new', () => equal(cs, poseidon(cs, [commC, rootRNew]), commRNew));
  cs.scope('comm_d_new', () => {
    const apex = apexRoot(cs, apexLeaves);
    const at = { hash: SHA256_NODE, levels: partitionPath, index: partitionBits };
    inclusionAt(cs, apex, commDNew, at);
  });
  const highBitChoice = bits.slice(partitionBitCount);
  const update = { phi, rootROld, rootRNew, apexLeaves, partitionBits, highBitChoice };
  return { update, commRNew, partition };
}

/** The root of a binary tree over the leaves. */
export function apexRoot(cs: Recorder, leaves: readonly Wire[]): Wire {
  let row = leaves;
  for (let level = 0; row.length > 1; level++) {
    const pairs = Array.from({ length: row.length / 2 }, (_, i) => row.slice(2 * i, 2 * i + 2));
    row = pairs.map((pair, i) =>
      cs.scope(`apex level ${level}, node ${i}`, () => SHA256_NODE.hash(cs, pair)),
    );
  }
  return row[0] as Wire;
}

/**
 * The bits of each challenge within its partition, the least significant first: consecutive ones of
 * digests H(comm_r_new, number), which count on from partition to partition.
 * @cost 568 constraints a digest
 */
export function drawChallenges(
  cs: Recorder,
  { nodes, snapDeals }: SectorConfig,
  commRNew: Wire,
  partition: Wire,
): Literal[][] {
  const bits = Math.log2(nodes / snapDeals.partitions);
  const perDigest = Math.floor(CAPACITY / bits);
  const digests = Math.ceil(snapDeals.challengesPerPartition / perDigest);
  const challenges: Literal[][] = [];
  for (let i = 0; i < digests; i++) {
    const first = LinearCombination.of(partition, BigInt(digests));
    const number = reduce(cs, first.plus(ONE, BigInt(i)));
    const digest = unpack(cs, poseidon(cs, [commRNew, number], ARBITRARY_TAG), FIELD_BITS);
    for (let j = 0; j < perDigest; j++) challenges.push(digest.slice(j * bits, (j + 1) * bits));
  }
  return challenges.slice(0, snapDeals.challengesPerPartition);
}

/**
 * Private inputs: the old leaf, the new data, the siblings of the leaf's path in the old tree R, in
 * the new one, and in tree D up to the apex leaves.
 */
function openChallenge(
  cs: Recorder,
  { treeArities, snapDeals }: SectorConfig,
  index: readonly Literal[],
  update: Update,
): void {
  const bits = [...index, ...update.partitionBits];
  const high = cs.scope('high bits', () =>
    highBits(cs, bits, update.highBitChoice, snapDeals.highBits),
  );
  const rho = cs.scope('rho', () => poseidon(cs, [update.phi, high], ARBITRARY_TAG));
  const oldLeaf = witness(cs);
  const data = witness(cs);
  const newLeaf = cs.scope('encoding', () => add(cs, oldLeaf, multiply(cs, data, rho)));
  const openR = (leaf: Wire, root: Wire) => {
    const levels = treeArities.map((arity) => Array.from({ length: arity - 1 }, () => witness(cs)));
    inclusionAt(cs, leaf, root, { hash: POSEIDON_NODE, levels, index: bits });
  };
  cs.scope('old tree R', () => openR(oldLeaf, update.rootROld));
  cs.scope('new tree R', () => openR(newLeaf, update.rootRNew));
  const below = index.length - Math.log2(update.apexLeaves.length);
  cs.scope('tree D', () => {
    const apexLeaf = select(cs, update.apexLeaves, index.slice(below));
    const levels = Array.from({ length: below }, () => [witness(cs)]);
    const at = { hash: SHA256_NODE, levels, index: index.slice(0, below) };
    inclusionAt(cs, data, apexLeaf, at);
  });
}

/**
 * The highest bits of a node's index, as many as is chosen: Σ choice_i·(the highest counts_i).
 * @cost 13 constraints and aux variables for six choices
 */
export function highBits(
  cs: Recorder,
  index: readonly Bit[],
  choice: readonly Literal[],
  counts: readonly number[],
): Wire {
  const sum = new LinearCombination();
  for (const [i, count] of counts.entries()) {
    const high = pack(cs, index.slice(index.length - count));
    sum.plus(multiply(cs, high, (choice[i] as Literal).wire));
  }
  return reduce(cs, sum);
}
