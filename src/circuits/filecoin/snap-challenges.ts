import { ARBITRARY_TAG, poseidon } from '../../math/poseidon.ts';
import { CAPACITY } from '../gadgets/number.ts';
import type { SectorConfig } from './sector-size.ts';

/** The challenged nodes of a partition: storage-proofs-update, challenges.rs. */
export function snapChallenges(
  { nodes, snapDeals }: SectorConfig,
  commRNew: bigint,
  partition: number,
): number[] {
  const { partitions, challengesPerPartition: count } = snapDeals;
  const bits = Math.log2(nodes / partitions);
  const perDigest = Math.floor(CAPACITY / bits);
  const first = partition * Math.ceil(count / perDigest);
  return Array.from({ length: count }, (_, i) => {
    const number = BigInt(first + Math.floor(i / perDigest));
    const digest = poseidon([commRNew, number], ARBITRARY_TAG);
    const low = BigInt.asUintN(bits, digest >> BigInt(bits * (i % perDigest)));
    return partition * (nodes / partitions) + Number(low);
  });
}

/** The randomness of a node in the new replica: it depends on the highest bits of its index. */
export function rhoOf({ nodes, snapDeals }: SectorConfig, phi: bigint, node: number): bigint {
  const high = Math.floor(node / (nodes / 2 ** snapDeals.highBitsUsed));
  return poseidon([phi, BigInt(high)], ARBITRARY_TAG);
}

export function phiOf(commDNew: bigint, commROld: bigint): bigint {
  return poseidon([commDNew, commROld], ARBITRARY_TAG);
}
