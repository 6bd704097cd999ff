import { createHash } from 'node:crypto';
import { blake2b } from '@noble/hashes/blake2.js';
import { concatBytes, readBigIntLE, writeBigIntLE } from '../../core/bytes.ts';
import { chacha20Block } from './chacha.ts';
import { NODE_BYTES, sectorConfig } from './sector-size.ts';
import type { PorepStatement } from './statement.ts';

const BLOCK_BYTES = 64;
const SYNTHETIC_NONCE = Buffer.from('synth-porep\0');
const SYNTHETIC_CHALLENGES_MAX = 2 ** 18;
const NON_INTERACTIVE_TAG = 'filecoin.io|PoRep|1|NonInteractive|1';

/** What binds a replica to its sealing: SHA-256 of these, its two highest bits cleared. */
export function replicaIdOf(statement: PorepStatement): bigint {
  const sector = Buffer.alloc(8);
  sector.writeBigUInt64BE(statement.sector);
  const digest = createHash('sha256')
    .update(statement.proverId)
    .update(sector)
    .update(statement.ticket)
    .update(writeBigIntLE(statement.commD, NODE_BYTES))
    .update(statement.porepId)
    .digest();
  return BigInt.asUintN(254, readBigIntLE(digest));
}

/**
 * The challenged nodes of a partition, by the rule of the registered proof: storage-proofs-porep,
 * stacked/vanilla/challenges.rs. Node 0 is never challenged.
 */
export function porepChallenges(statement: PorepStatement, partition: number): number[] {
  const { nodes, porep } = sectorConfig(statement.proof.sectorSize);
  const first = partition * porep.challengesPerPartition;
  const challenge = ruleOf(statement, nodes);
  return Array.from({ length: porep.challengesPerPartition }, (_, i) => challenge(first + i));
}

/** The challenge of each number, counted over all partitions. */
function ruleOf(statement: PorepStatement, nodes: number): (number: number) => number {
  const replicaId = writeBigIntLE(replicaIdOf(statement), NODE_BYTES);
  const commR = writeBigIntLE(statement.commR, NODE_BYTES);
  const byHash =
    (...parts: readonly (string | Uint8Array)[]) =>
    (number: number) => {
      const hash = createHash('sha256');
      for (const part of [...parts, u32(number)]) hash.update(part);
      return toNode(hash.digest(), nodes);
    };
  switch (statement.proof.feature) {
    case 'interactive':
      return byHash(replicaId, statement.seed);
    case 'non-interactive':
      return byHash(NON_INTERACTIVE_TAG, replicaId, commR);
    case 'synthetic':
      return syntheticRule(replicaId, commR, statement.seed, nodes);
  }
}

/**
 * Challenges are picked by the seed out of ones that are fixed when the sector is sealed.
 * @param replicaId, commR 32 bytes
 */
export function syntheticRule(
  replicaId: Uint8Array,
  commR: Uint8Array,
  seed: Uint8Array,
  nodes: number,
  count = Math.min(nodes, SYNTHETIC_CHALLENGES_MAX),
): (number: number) => number {
  const generation = syntheticKey('Generation', replicaId, commR);
  const selection = syntheticKey('Selection', replicaId, seed);
  return (number) => {
    const index = Buffer.from(keystream(selection, 4 * number, 4)).readUInt32LE() % count;
    return toNode(keystream(generation, NODE_BYTES * index, NODE_BYTES), nodes);
  };
}

function syntheticKey(purpose: string, ...parts: readonly Uint8Array[]): Uint8Array {
  const key = Buffer.from(`filecoin.io|PoRep|1|Synthetic|1|${purpose}`);
  return blake2b(concatBytes(...parts), { key, dkLen: 32 });
}

/** @param offset, length of bytes that lie in one block */
function keystream(key: Uint8Array, offset: number, length: number): Uint8Array {
  const start = offset % BLOCK_BYTES;
  const block = chacha20Block(key, SYNTHETIC_NONCE, offset - start);
  return block.subarray(start, start + length);
}

function toNode(bytes: Uint8Array, nodes: number): number {
  return Number(readBigIntLE(bytes) % BigInt(nodes - 1)) + 1;
}

function u32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}
