import { checkPorepHead, checkPorepPartition } from '../circuits/filecoin/check-porep.ts';
import { checkPostPartition } from '../circuits/filecoin/check-post.ts';
import { checkSnapDealsPartition } from '../circuits/filecoin/check-snap-deals.ts';
import {
  porepPrivateInputs,
  snapDealsPrivateInputs,
  windowPostPrivateInputs,
  winningPostPrivateInputs,
} from '../circuits/filecoin/private-inputs.ts';
import { partitionsOf } from '../circuits/filecoin/public-inputs.ts';
import { sectorConfig } from '../circuits/filecoin/sector-size.ts';
import type {
  PorepStatement,
  PostStatement,
  SnapDealsStatement,
  Statement,
} from '../circuits/filecoin/statement.ts';
import type { SectorProof } from '../circuits/filecoin/vanilla.ts';
import { formatError, ProverError } from '../core/errors.ts';
import type { ByteSource } from '../core/source.ts';
import type { Pacer } from '../math/pacer.ts';
import type { Poseidon } from '../math/poseidon.ts';
import { readC1 } from './c1.ts';
import { readSectorProof, readUpdateProof } from './vanilla.ts';

export interface VanillaOptions {
  /** What a file says of other partitions was read before, as values of their kinds. */
  readonly othersChecked?: boolean;
  /** Default: the one in TypeScript. */
  readonly poseidon?: Poseidon | undefined;
}

/**
 * The private inputs of one partition's circuit, out of vanilla proofs whose every value was
 * checked against the statement.
 * @param files PoRep: the output of its first phase. WinningPoSt: one. WindowPoSt: one a sector, in
 *        any order. SnapDeals: one a partition, by number, or only the one that is asked for.
 * @throws ERR_FORMAT naming file and place, or partition, sector, challenge and field; ERR_PARAMS
 *         where there is no such partition
 */
export async function readPrivateInputs(
  statement: Statement,
  files: readonly ByteSource[],
  partition: number,
  pacer: Pacer,
  options: VanillaOptions = {},
): Promise<Uint8Array> {
  const count = partitionsOf(statement);
  if (partition >= count) {
    const expected = `below ${count}`;
    throw new ProverError('ERR_PARAMS', { subject: 'partition', expected, actual: partition });
  }
  switch (statement.kind) {
    case 'porep':
      return await readPorep(statement, only(files), partition, pacer, options);
    case 'snap-deals':
      return await readSnapDeals(
        statement,
        ofPartition(files, partition, count),
        partition,
        pacer,
        options,
      );
    default:
      return await readPost(statement, files, partition, pacer, options);
  }
}

async function readPorep(
  statement: PorepStatement,
  file: ByteSource,
  partition: number,
  pacer: Pacer,
  { othersChecked = false, poseidon }: VanillaOptions,
): Promise<Uint8Array> {
  const c1 = await readC1(file, { keep: (each) => each === partition, othersChecked });
  const { proof, partitions, sector } = c1;
  if (proof.name !== statement.proof.name) {
    throw formatError(`${file.name}: registered_proof`, statement.proof.name, proof.name);
  }
  if (sector !== undefined && sector !== statement.sector) {
    throw formatError(`${file.name}: SectorNum`, String(statement.sector), String(sector));
  }
  const challenges = partitions[partition];
  if (challenges === undefined) {
    const expected = `a partition ${partition}`;
    throw formatError(`${file.name}: vanilla_proofs`, expected, `${partitions.length} partitions`);
  }
  checkPorepHead(statement, c1);
  await checkPorepPartition(statement, partition, challenges, pacer, poseidon);
  return porepPrivateInputs(statement, challenges);
}

async function readPost(
  statement: PostStatement,
  files: readonly ByteSource[],
  partition: number,
  pacer: Pacer,
  { poseidon }: VanillaOptions,
): Promise<Uint8Array> {
  const isWinning = statement.kind === 'winning-post';
  const config = sectorConfig(statement.proof.sectorSize);
  const { challenges } = isWinning ? config.winningPost : config.windowPost;
  const read: SectorProof[] = [];
  for (const file of isWinning ? [only(files)] : files) {
    const proof = await readSectorProof(file, config, challenges);
    const place = `${file.name}: sector_id`;
    if (!statement.sectors.some(({ number }) => number === proof.sector)) {
      throw formatError(place, 'a sector of the statement', String(proof.sector));
    }
    if (read.some(({ sector }) => sector === proof.sector)) {
      throw formatError(place, 'each sector once', `${proof.sector} again`);
    }
    read.push(proof);
    if (pacer.due) await pacer.pause();
  }
  const sectors = await checkPostPartition(statement, partition, read, pacer, poseidon);
  if (!isWinning) return windowPostPrivateInputs(statement, sectors);
  return winningPostPrivateInputs(sectors[0] as SectorProof);
}

async function readSnapDeals(
  statement: SnapDealsStatement,
  file: ByteSource,
  partition: number,
  pacer: Pacer,
  { poseidon }: VanillaOptions,
): Promise<Uint8Array> {
  const proof = await readUpdateProof(file, sectorConfig(statement.proof.sectorSize));
  await checkSnapDealsPartition(statement, partition, proof, pacer, poseidon);
  return snapDealsPrivateInputs(statement, partition, proof);
}

function only(files: readonly ByteSource[]): ByteSource {
  return ofPartition(files, 0, 1);
}

function ofPartition(files: readonly ByteSource[], partition: number, count: number): ByteSource {
  const file =
    files.length === 1 ? files[0] : files.length === count ? files[partition] : undefined;
  if (file !== undefined) return file;
  const expected = count === 1 ? '1 file' : `1 file, or one for each of ${count} partitions`;
  throw new ProverError('ERR_PARAMS', { subject: 'vanilla', expected, actual: files.length });
}
