import { describe, expect, it } from 'vitest';
import { sectorConfig } from '../../../src/circuits/filecoin/sector-size.ts';
import type {
  MerkleProof,
  SectorProof,
  UpdateProof,
} from '../../../src/circuits/filecoin/vanilla.ts';
import { writeBigIntLE } from '../../../src/core/bytes.ts';
import { fromBytes } from '../../../src/core/source.ts';
import { readSectorProof, readUpdateProof } from '../../../src/formats/vanilla.ts';
import { R } from '../../../src/r1cs/linear-combination.ts';
import { goldenBytes } from '../../support/vanilla.ts';

const SMALL = sectorConfig('2KiB');
const FULL = sectorConfig('32GiB');
const WINDOW = 'window-2kib-vanilla-sector1.bin';
const [HEAD, LENGTHS] = [40, 16];

const bytesOf = (value: bigint) => Array.from(writeBigIntLE(value, 32));
const sector = (bytes: Uint8Array, config = SMALL, challenges = 10) =>
  readSectorProof(fromBytes('s.bin', bytes), config, challenges);
const update = (bytes: Uint8Array) => readUpdateProof(fromBytes('u.bin', bytes), SMALL);
const jsonBytes = (value: unknown) => new Uint8Array(Buffer.from(JSON.stringify(value)));

/** As serde writes them. */
function merkleJson({ root, leaf, path }: MerkleProof, sub = false) {
  const ends = { root: bytesOf(root), leaf: bytesOf(leaf) };
  const levels = path.map(({ siblings, index }) => ({ index, hashes: siblings.map(bytesOf) }));
  if (!sub) return { data: { Single: { ...ends, path: { path: levels } } } };
  const [base_proof, sub_proof] = [{ path: levels.slice(0, -1) }, { path: levels.slice(-1) }];
  return { data: { Sub: { base_proof, sub_proof, ...ends } } };
}

function sectorJson({ sector: id, commR, commC, commRLast, inclusions }: SectorProof, sub = false) {
  const inclusion_proofs = inclusions.map((inclusion) => merkleJson(inclusion, sub));
  const opened = { comm_c: bytesOf(commC), comm_r_last: bytesOf(commRLast), inclusion_proofs };
  return { comm_r: bytesOf(commR), sector_id: Number(id), vanilla_proof: { sectors: [opened] } };
}

function updateJson({ commC, apexLeaves, challenges }: UpdateProof) {
  return {
    challenge_proofs: challenges.map((challenge) => ({
      proof_d_new: merkleJson(challenge.newData),
      proof_r_new: merkleJson(challenge.newReplica),
      proof_r_old: merkleJson(challenge.oldReplica),
    })),
    ...{ apex_leafs: apexLeaves.map(bytesOf), comm_c: bytesOf(commC) },
  };
}

describe('a vanilla proof of spacetime', () => {
  it('is the same in bincode and in JSON, whatever the order of fields', async () => {
    const proof = await sector(goldenBytes(WINDOW));
    expect(proof.inclusions).toHaveLength(10);
    expect(await sector(jsonBytes(sectorJson(proof)))).toEqual(proof);
    const spaced = JSON.stringify(sectorJson(proof), null, 1);
    expect(await sector(new Uint8Array(Buffer.from(`\n${spaced}\n`)))).toEqual(proof);
  });

  it('of full sectors has a base and a sub tree', async () => {
    const proof = await sector(goldenBytes('window-32gib-vanilla-sector1.bin'), FULL);
    expect(proof.inclusions[0]?.path).toHaveLength(10);
    expect(await sector(jsonBytes(sectorJson(proof, true)), FULL)).toEqual(proof);
  });
});

describe('a vanilla proof of an update', () => {
  it('is the same in bincode and in JSON, whatever the order of fields', async () => {
    const proof = await update(goldenBytes('snap-2kib-partition0.bin'));
    expect([proof.apexLeaves.length, proof.challenges.length]).toEqual([8, 10]);
    expect(await update(jsonBytes(updateJson(proof)))).toEqual(proof);
  });
});

describe('damaged bincode', () => {
  /** Of the first challenge's inclusion proof. */
  const first = HEAD + LENGTHS;

  it.each([
    ['its length', (b: Buffer) => b.subarray(1), 's.bin: expected 5680 bytes of bincode, or JSON'],
    ['two sectors', (b: Buffer) => set(b, HEAD, 2), 'sectors: length: expected 1, got 2'],
    ['a count', (b: Buffer) => set(b, HEAD + 8, 11), 'length: expected 10, got 11'],
    ['a variant', (b: Buffer) => set(b, first, 1), 'variant: expected 0 (Single), got 1'],
    [
      'a root that is no scalar',
      (b: Buffer) => b.fill(255, first + 4, first + 36),
      'root: expected a number below r',
    ],
    [
      'an index',
      (b: Buffer) => set(b, first + 76 + 8 + 7 * 32, 8),
      'index: expected a number below 8, got 8',
    ],
  ])('is named: %s', async (_, damage, message) => {
    const bytes = Buffer.from(goldenBytes(WINDOW));
    const read = sector(new Uint8Array(damage(bytes)));
    await expect(read).rejects.toMatchObject({ code: 'ERR_FORMAT' });
    await expect(read).rejects.toThrow(message);
  });

  it('is named by its place', async () => {
    const bytes = Buffer.from(goldenBytes(WINDOW)).fill(255, first + 4, first + 36);
    await expect(sector(new Uint8Array(bytes))).rejects.toThrow(
      's.bin: vanilla_proof, sectors, sector 0, inclusion_proofs, challenge 0',
    );
  });
});

describe('damaged JSON', () => {
  type Json = ReturnType<typeof sectorJson>;

  it.each([
    ['a field more', (json: Json) => ({ ...json, more: 1 }), 'another'],
    ['a field less', ({ comm_r: _, ...json }: Json) => json, 'a field comm_r'],
    [
      'a byte of 256',
      (json: Json) => ({ ...json, comm_r: [256, ...json.comm_r.slice(1)] }),
      'comm_r: expected 32 numbers up to 255',
    ],
    [
      '31 bytes',
      (json: Json) => ({ ...json, comm_r: json.comm_r.slice(1) }),
      'comm_r: expected ","',
    ],
    [
      'r itself',
      (json: Json) => ({ ...json, comm_r: bytesOf(R) }),
      'comm_r: expected a number below r',
    ],
    ['a sign', (json: Json) => ({ ...json, sector_id: -1 }), 'sector_id: expected a number'],
    [
      'no sector',
      (json: Json) => ({ ...json, vanilla_proof: { sectors: [] } }),
      'sectors: expected 1',
    ],
  ])('is named: %s', async (_, damage, message) => {
    const json = sectorJson(await sector(goldenBytes(WINDOW)));
    await expect(sector(jsonBytes(damage(json)))).rejects.toThrow(message);
  });

  it.each([
    ['a field twice', '{"sector_id":1,"sector_id":1}', '"sector_id" once, got twice'],
    ['a number too long', `{"sector_id":${'1'.repeat(21)}}`, 'at most 20 digits'],
    ['a byte of four digits', `{"comm_r":[0001${',0'.repeat(31)}]`, 'at most 3 digits'],
    ['an escape', '{"sector\\u005fid":1}', 'a text without escapes'],
    ['a name too long', `{"${'a'.repeat(257)}":1}`, 'a text of at most 256 bytes'],
    ['its end', '{"sector_id":1', 'expected'],
    ['an array', '[]', '5680 bytes of bincode, or JSON'],
    ['nothing', '', 'got 0 bytes'],
  ])('is named: %s', async (_, text, message) => {
    const read = sector(new Uint8Array(Buffer.from(text)));
    await expect(read).rejects.toMatchObject({ code: 'ERR_FORMAT' });
    await expect(read).rejects.toThrow(message);
  });

  it('is refused unread where it is too large', async () => {
    await expect(sector(new Uint8Array(5680 * 32 + 1))).rejects.toMatchObject({
      code: 'ERR_TOO_LARGE',
    });
  });
});

/** A u64. */
function set(bytes: Buffer, at: number, value: number): Buffer {
  bytes.writeBigUInt64LE(BigInt(value), at);
  return bytes;
}
