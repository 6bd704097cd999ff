import { createHash } from 'node:crypto';
import { sectorConfig } from './sector-size.ts';
import type { PostStatement } from './statement.ts';

/** A sector of a partition, and the leaves of it that are challenged. */
export interface ChallengedSector {
  readonly number: bigint;
  readonly commR: bigint;
  readonly leaves: readonly number[];
}

/**
 * The sectors of a partition, without those that fill it up: storage-proofs-post,
 * fallback/vanilla.rs.
 */
export function postChallenges(statement: PostStatement, partition: number): ChallengedSector[] {
  const { nodes, windowPost, winningPost } = sectorConfig(statement.proof.sectorSize);
  const isWinning = statement.kind === 'winning-post';
  const perPartition = isWinning ? 1 : windowPost.sectorsPerPartition;
  const count = isWinning ? winningPost.challenges : windowPost.challenges;
  const first = partition * perPartition;
  return statement.sectors.slice(first, first + perPartition).map((sector, i) => {
    const firstIndex = statement.proof.globalChallenges ? (first + i) * count : 0;
    const leaves = Array.from({ length: count }, (_, n) =>
      challengedLeaf(statement.randomness, sector.number, firstIndex + n, nodes),
    );
    return { ...sector, leaves };
  });
}

/** The first eight bytes of a SHA-256, modulo the leaves. */
function challengedLeaf(
  randomness: Uint8Array,
  sector: bigint,
  index: number,
  nodes: number,
): number {
  const numbers = Buffer.alloc(16);
  numbers.writeBigUInt64LE(sector, 0);
  numbers.writeBigUInt64LE(BigInt(index), 8);
  const digest = createHash('sha256').update(randomness).update(numbers).digest();
  return Number(digest.readBigUInt64LE() % BigInt(nodes));
}
