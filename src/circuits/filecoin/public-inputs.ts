import { StackedGraph } from './graph.ts';
import { porepChallenges, replicaIdOf } from './porep-challenges.ts';
import { type ChallengedSector, postChallenges } from './post-challenges.ts';
import { sectorConfig } from './sector-size.ts';
import type { PorepStatement, PostStatement, SnapDealsStatement, Statement } from './statement.ts';

/** Partitions of a statement: as many proofs. */
export function partitionsOf(statement: Statement): number {
  const config = sectorConfig(statement.proof.sectorSize);
  switch (statement.kind) {
    case 'porep':
      return statement.proof.feature === 'non-interactive'
        ? config.porep.nonInteractivePartitions
        : config.porep.partitions;
    case 'window-post':
      return Math.ceil(statement.sectors.length / config.windowPost.sectorsPerPartition);
    case 'winning-post':
      return 1;
    case 'snap-deals':
      return config.snapDeals.partitions;
  }
}

/** The public inputs of a partition's proof, as a verifier derives them; without the leading 1. */
export function publicInputsOf(statement: Statement, partition: number): bigint[] {
  switch (statement.kind) {
    case 'porep':
      return porepInputs(statement, partition);
    case 'window-post':
    case 'winning-post':
      return postInputs(statement, partition);
    case 'snap-deals':
      return snapDealsInputs(statement, partition);
  }
}

function porepInputs(statement: PorepStatement, partition: number): bigint[] {
  const { proof, porepId, commD, commR } = statement;
  const graph = new StackedGraph(sectorConfig(proof.sectorSize).nodes, porepId, proof.graph);
  const nodes = porepChallenges(statement, partition).flatMap((node) => [
    ...[node, ...graph.parents(node)],
    ...[node, node, node],
  ]);
  return [replicaIdOf(statement), commD, commR, ...nodes.map(BigInt)];
}

function postInputs(statement: PostStatement, partition: number): bigint[] {
  const sectors = postChallenges(statement, partition);
  if (statement.kind === 'winning-post') {
    return sectors.flatMap(({ commR, leaves }) => leaves.flatMap((leaf) => [commR, BigInt(leaf)]));
  }
  const { windowPost } = sectorConfig(statement.proof.sectorSize);
  return filledUp(sectors, windowPost.sectorsPerPartition).flatMap(
    ({ commR, leaves }: ChallengedSector) => [commR, ...leaves.map(BigInt)],
  );
}

/** A partition with too few sectors repeats the last. */
export function filledUp<T>(sectors: readonly T[], count: number): T[] {
  return Array.from({ length: count }, (_, i) => sectors[Math.min(i, sectors.length - 1)] as T);
}

function snapDealsInputs(statement: SnapDealsStatement, partition: number): bigint[] {
  const { snapDeals } = sectorConfig(statement.proof.sectorSize);
  return [
    partitionAndChoice(snapDeals, partition),
    statement.commROld,
    statement.commDNew,
    statement.commRNew,
  ];
}

/** The partition, and above its bits one bit: the first choice that gives the high bits in use. */
export function partitionAndChoice(
  { partitions, highBits, highBitsUsed }: ReturnType<typeof sectorConfig>['snapDeals'],
  partition: number,
): bigint {
  return BigInt(partition + partitions * 2 ** highBits.indexOf(highBitsUsed));
}
