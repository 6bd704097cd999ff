import {
  DRG_PARENTS,
  EXP_PARENTS,
  LABEL_PARENTS,
  type SectorConfig,
} from '../circuits/filecoin/sector-size.ts';
import type {
  ColumnProof,
  LabelingProof,
  MerkleProof,
  PathLevel,
  PorepChallengeProof,
  SectorProof,
  UpdateProof,
} from '../circuits/filecoin/vanilla.ts';
import { formatError, ProverError } from '../core/errors.ts';
import type { ByteSource } from '../core/source.ts';
import { bincodeLength, decodeBincode } from './bincode.ts';
import { chunksOf, JsonReader } from './vanilla-json.ts';
import {
  index,
  list,
  mapped,
  phantom,
  type Schema,
  scalar,
  struct,
  u32,
  u64,
  variant,
} from './vanilla-schema.ts';

/** JSON has up to four characters a byte, and a line of its own for each where it is indented. */
const JSON_BYTES_A_BYTE = 32;

/**
 * A sector's vanilla proof of spacetime, in bincode or JSON: rust-fil-proofs'
 * `FallbackPoStSectorProof`.
 * @throws ERR_FORMAT, ERR_TOO_LARGE
 */
export function readSectorProof(
  source: ByteSource,
  config: SectorConfig,
  challenges: number,
): Promise<SectorProof> {
  const opened = struct({
    inclusion_proofs: list(merkleProof(config.treeParts), challenges, 'challenge'),
    comm_c: scalar,
    comm_r_last: scalar,
  });
  const proof = struct({
    sector_id: u64,
    comm_r: scalar,
    vanilla_proof: struct({
      sectors: mapped(list(opened, 1, 'sector'), ([only]) => only as NonNullable<typeof only>),
    }),
  });
  return readEither(source, proof, ({ sector_id, comm_r, vanilla_proof: { sectors } }) => ({
    ...{ sector: sector_id, commR: comm_r, commC: sectors.comm_c },
    ...{ commRLast: sectors.comm_r_last, inclusions: sectors.inclusion_proofs },
  }));
}

/**
 * One partition of an update's vanilla proof, in bincode or JSON: rust-fil-proofs'
 * `PartitionProof`.
 * @throws ERR_FORMAT, ERR_TOO_LARGE
 */
export function readUpdateProof(source: ByteSource, config: SectorConfig): Promise<UpdateProof> {
  const { apexLeaves, challengesPerPartition } = config.snapDeals;
  const replica = merkleProof(config.treeParts);
  const challenge = struct({
    proof_r_old: replica,
    proof_d_new: merkleProof([config.dataArities]),
    proof_r_new: replica,
  });
  const proof = struct({
    comm_c: scalar,
    apex_leafs: list(scalar, apexLeaves, 'leaf'),
    challenge_proofs: list(challenge, challengesPerPartition, 'challenge'),
  });
  return readEither(source, proof, ({ comm_c, apex_leafs, challenge_proofs }) => ({
    ...{ commC: comm_c, apexLeaves: apex_leafs },
    challenges: challenge_proofs.map(({ proof_r_old, proof_d_new, proof_r_new }) => ({
      ...{ oldReplica: proof_r_old, newData: proof_d_new, newReplica: proof_r_new },
    })),
  }));
}

/** A challenge of PoRep: rust-fil-proofs' `stacked::Proof`. */
export function porepChallenge(config: SectorConfig): Schema<PorepChallengeProof> {
  const { treeParts, dataArities, layers } = config;
  const tree = merkleProof(treeParts);
  const columnProof = mapped(
    struct({
      column: struct({ index: u32, rows: list(scalar, layers, 'layer'), _h: phantom }),
      inclusion_proof: tree,
    }),
    ({ column: { index: node, rows }, inclusion_proof: inclusion }): ColumnProof => ({
      ...{ index: Number(node), rows, inclusion },
    }),
  );
  const labeling = mapped(
    struct({ parents: list(scalar, LABEL_PARENTS, 'parent'), layer_index: u32, node: u64 }),
    ({ parents, layer_index, node }): LabelingProof => ({
      ...{ parents, layer: Number(layer_index), node },
    }),
  );
  const proof = struct({
    comm_d_proofs: merkleProof([dataArities]),
    comm_r_last_proof: tree,
    replica_column_proofs: struct({
      c_x: columnProof,
      drg_parents: list(columnProof, DRG_PARENTS, 'drg parent'),
      exp_parents: list(columnProof, EXP_PARENTS, 'exp parent'),
    }),
    labeling_proofs: list(labeling, layers, 'labeling'),
    encoding_proof: labeling,
  });
  return mapped(proof, ({ comm_d_proofs, comm_r_last_proof, ...rest }) => ({
    ...{ data: comm_d_proofs, replica: comm_r_last_proof },
    column: rest.replica_column_proofs.c_x,
    drgParents: rest.replica_column_proofs.drg_parents,
    expParents: rest.replica_column_proofs.exp_parents,
    ...{ labelings: rest.labeling_proofs, encoding: rest.encoding_proof },
  }));
}

/** rust-fil-proofs' `MerkleProof`. @param parts of the tree, by which its variants differ */
function merkleProof(parts: readonly (readonly number[])[]): Schema<MerkleProof> {
  return mapped(struct({ data: proofData(parts.map(pathOf)) }), ({ data }) => data);
}

function proofData([base, sub, top]: readonly Schema<Path>[]): Schema<MerkleProof> {
  const ends = { root: scalar, leaf: scalar };
  const paths = { base_proof: base as Schema<Path>, sub_proof: sub as Schema<Path> };
  if (sub === undefined) {
    const single = struct({ ...ends, path: base as Schema<Path> });
    return mapped(variant('Single', 0, single), ({ root, leaf, path }) => ({ root, leaf, path }));
  }
  if (top === undefined) {
    return mapped(variant('Sub', 1, struct({ ...paths, ...ends })), (proof) => {
      const { root, leaf, base_proof, sub_proof } = proof;
      return { root, leaf, path: [...base_proof, ...sub_proof] };
    });
  }
  return mapped(variant('Top', 2, struct({ ...paths, top_proof: top, ...ends })), (proof) => {
    const { root, leaf, base_proof, sub_proof, top_proof } = proof;
    return { root, leaf, path: [...base_proof, ...sub_proof, ...top_proof] };
  });
}

type Path = readonly PathLevel[];

/** rust-fil-proofs' `InclusionPath`. */
function pathOf(arities: readonly number[]): Schema<Path> {
  const levels = arities.map((arity) =>
    mapped(
      struct({ hashes: list(scalar, arity - 1, 'sibling'), index: index(arity) }),
      ({ hashes, index: place }): PathLevel => ({ siblings: hashes, index: Number(place) }),
    ),
  );
  // All levels of a part are alike.
  const path = list(levels[0] as Schema<PathLevel>, levels.length, 'level');
  return mapped(struct({ path }), (value) => value.path);
}

async function readEither<T, U>(
  source: ByteSource,
  schema: Schema<T>,
  convert: (value: T) => U,
): Promise<U> {
  const bytes = bincodeLength(schema);
  if (source.size === bytes) {
    return convert(decodeBincode(schema, source.name, await source.read(0, bytes)));
  }
  const limit = bytes * JSON_BYTES_A_BYTE;
  if (source.size > limit) throw new ProverError('ERR_TOO_LARGE', { subject: source.name, limit });
  const first = source.size === 0 ? '' : Buffer.from(await source.read(0, 1)).toString();
  if (!/[\s{]/.test(first)) {
    throw formatError(source.name, `${bytes} bytes of bincode, or JSON`, `${source.size} bytes`);
  }
  const reader = new JsonReader(source.name, chunksOf(source));
  const value = await reader.decode(schema);
  await reader.end();
  return convert(value);
}
