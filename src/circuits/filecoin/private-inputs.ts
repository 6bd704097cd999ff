import { assert } from '../../core/assert.ts';
import { writeBigIntLE } from '../../core/bytes.ts';
import { replicaIdOf } from './porep-challenges.ts';
import { filledUp, partitionAndChoice } from './public-inputs.ts';
import { type SectorConfig, sectorConfig } from './sector-size.ts';
import type { PorepStatement, PostStatement, SnapDealsStatement } from './statement.ts';
import type {
  ColumnProof,
  PathLevel,
  PorepChallengeProof,
  SectorProof,
  UpdateChallengeProof,
  UpdateProof,
} from './vanilla.ts';

const NODE_NUMBER_BITS = 64;

/**
 * The private inputs of a circuit, in the order in which its gadgets take them: 32 bytes each,
 * canonical little-endian. Each function follows the circuit of the same name.
 */
export function porepPrivateInputs(
  statement: PorepStatement,
  challenges: readonly PorepChallengeProof[],
): Uint8Array {
  const [first] = challenges;
  assert(first !== undefined, 'porep: expected a challenge');
  return toBytes([
    ...[replicaIdOf(statement), statement.commD, statement.commR],
    ...[first.replica.root, first.column.inclusion.root],
    ...challenges.flatMap((challenge) => [
      ...[challenge.data.leaf, ...pathInputs(challenge.data.path)],
      ...[...challenge.drgParents, ...challenge.expParents].flatMap(columnInputs),
      ...bitsOf(challenge.labelings[0]?.node as bigint, NODE_NUMBER_BITS),
      ...pathInputs(challenge.replica.path),
      ...pathInputs(challenge.column.inclusion.path),
    ]),
  ]);
}

function columnInputs({ rows, inclusion }: ColumnProof): bigint[] {
  return [...rows, ...pathInputs(inclusion.path)];
}

/** @param sectors of the partition, as `postChallenges` has them */
export function windowPostPrivateInputs(
  statement: PostStatement,
  sectors: readonly SectorProof[],
): Uint8Array {
  const { sectorsPerPartition } = sectorConfig(statement.proof.sectorSize).windowPost;
  return toBytes(filledUp(sectors.map(sectorInputs), sectorsPerPartition).flat());
}

export function winningPostPrivateInputs({ inclusions, ...sector }: SectorProof): Uint8Array {
  return toBytes(
    inclusions.flatMap((inclusion) => sectorInputs({ ...sector, inclusions: [inclusion] })),
  );
}

function sectorInputs({ commRLast, commC, commR, inclusions }: SectorProof): bigint[] {
  const leaves = inclusions.flatMap(({ leaf, path }) => [leaf, ...pathInputs(path)]);
  return [commRLast, commC, commR, ...leaves];
}

export function snapDealsPrivateInputs(
  statement: SnapDealsStatement,
  partition: number,
  { commC, apexLeaves, challenges }: UpdateProof,
): Uint8Array {
  const config = sectorConfig(statement.proof.sectorSize);
  const [first] = challenges;
  assert(first !== undefined, 'snap-deals: expected a challenge');
  const partitionBits = Math.log2(config.snapDeals.partitions);
  const abovePartition = first.newData.path.slice(first.newData.path.length - partitionBits);
  return toBytes([
    partitionAndChoice(config.snapDeals, partition),
    ...[statement.commROld, statement.commDNew, statement.commRNew],
    ...[commC, first.oldReplica.root, first.newReplica.root],
    ...apexLeaves,
    ...siblingsOf(abovePartition),
    ...challenges.flatMap((challenge) => updateInputs(config, challenge)),
  ]);
}

function updateInputs({ snapDeals, nodes }: SectorConfig, proof: UpdateChallengeProof): bigint[] {
  const below = Math.log2(nodes / snapDeals.partitions / snapDeals.apexLeaves);
  return [
    ...[proof.oldReplica.leaf, proof.newData.leaf],
    ...siblingsOf(proof.oldReplica.path),
    ...siblingsOf(proof.newReplica.path),
    ...siblingsOf(proof.newData.path.slice(0, below)),
  ];
}

/** For each level the bits of the index and the siblings. */
function pathInputs(path: readonly PathLevel[]): bigint[] {
  return path.flatMap(({ index, siblings }) => [
    ...bitsOf(BigInt(index), Math.log2(siblings.length + 1)),
    ...siblings,
  ]);
}

function siblingsOf(path: readonly PathLevel[]): bigint[] {
  return path.flatMap(({ siblings }) => siblings);
}

/** Least significant first. */
function bitsOf(value: bigint, count: number): bigint[] {
  return Array.from({ length: count }, (_, i) => (value >> BigInt(i)) & 1n);
}

function toBytes(values: readonly bigint[]): Uint8Array {
  const bytes = new Uint8Array(32 * values.length);
  for (const [i, value] of values.entries()) bytes.set(writeBigIntLE(value, 32), 32 * i);
  return bytes;
}
