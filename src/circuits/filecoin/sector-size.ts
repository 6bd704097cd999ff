import { assert } from '../../core/assert.ts';
import { formatError } from '../../core/errors.ts';
import { GIB, KIB, MIB } from '../../core/units.ts';

/** The sizes that Filecoin's networks know; each has its own circuits and published parameters. */
export const SECTOR_SIZES = ['2KiB', '8MiB', '512MiB', '32GiB', '64GiB'] as const;
export type SectorSize = (typeof SECTOR_SIZES)[number];

export const NODE_BYTES = 32;
/** Rows of nodes that a label is made of, and what the label's hash is filled up with. */
export const DRG_PARENTS = 6;
export const EXP_PARENTS = 8;
export const LABEL_PARENTS = 37;

/**
 * What the size of a sector decides. rust-fil-proofs: filecoin-proofs/src/constants.rs, the trees'
 * shapes and PoRep; storage-proofs-update/src/constants.rs, SnapDeals.
 */
export interface SectorConfig {
  readonly size: SectorSize;
  readonly bytes: number;
  /** Leaves of each tree, a power of two. */
  readonly nodes: number;
  /** Arities of trees C and R, bottom to top: of the base trees, of those over them, of the top. */
  readonly treeParts: readonly (readonly number[])[];
  /** The same in one. */
  readonly treeArities: readonly number[];
  /** Arities of tree D. */
  readonly dataArities: readonly number[];
  readonly layers: 2 | 11;
  readonly porep: {
    readonly challengesPerPartition: number;
    readonly partitions: number;
    /** Of non-interactive PoRep. */
    readonly nonInteractivePartitions: number;
  };
  readonly windowPost: { readonly sectorsPerPartition: number; readonly challenges: number };
  /** Of one sector, once. */
  readonly winningPost: { readonly challenges: number };
  readonly snapDeals: {
    readonly partitions: number;
    readonly challengesPerPartition: number;
    readonly apexLeaves: number;
    /** Bits of a node's index that its randomness depends on: the choices, and the one in use. */
    readonly highBits: readonly number[];
    readonly highBitsUsed: number;
  };
}

const TEST_POREP = { challengesPerPartition: 2, partitions: 1, nonInteractivePartitions: 13 };
const FULL_POREP = { challengesPerPartition: 18, partitions: 10, nonInteractivePartitions: 126 };
const TEST_HIGH_BITS = { highBits: [1, 1, 1, 1, 1, 1], highBitsUsed: 1 };
const FULL_HIGH_BITS = { highBits: [7, 8, 9, 10, 11, 12], highBitsUsed: 10 };
const FULL_SNAP = {
  ...{ partitions: 16, challengesPerPartition: 86, apexLeaves: 128 },
  ...FULL_HIGH_BITS,
};

const CONFIGS: Readonly<Record<SectorSize, SectorConfig>> = {
  '2KiB': {
    ...shape('2KiB', 2 * KIB, 2, []),
    ...{ layers: 2, porep: TEST_POREP, ...postOf(2) },
    snapDeals: {
      ...{ partitions: 1, challengesPerPartition: 10, apexLeaves: 8 },
      ...TEST_HIGH_BITS,
    },
  },
  '8MiB': {
    ...shape('8MiB', 8 * MIB, 6, []),
    ...{ layers: 2, porep: TEST_POREP, ...postOf(2) },
    snapDeals: {
      ...{ partitions: 4, challengesPerPartition: 10, apexLeaves: 128 },
      ...FULL_HIGH_BITS,
    },
  },
  '512MiB': {
    ...shape('512MiB', 512 * MIB, 8, []),
    ...{ layers: 2, porep: TEST_POREP, ...postOf(2) },
    snapDeals: FULL_SNAP,
  },
  '32GiB': {
    ...shape('32GiB', 32 * GIB, 9, [8]),
    ...{ layers: 11, porep: FULL_POREP, ...postOf(2349) },
    snapDeals: FULL_SNAP,
  },
  '64GiB': {
    ...shape('64GiB', 64 * GIB, 9, [8, 2]),
    ...{ layers: 11, porep: FULL_POREP, ...postOf(2300) },
    snapDeals: FULL_SNAP,
  },
};

export function sectorConfig(size: SectorSize): SectorConfig {
  return CONFIGS[size];
}

/** @throws ERR_FORMAT that names `subject` */
export function sectorConfigOfBytes(subject: string, bytes: unknown): SectorConfig {
  const known = Object.values(CONFIGS).find((config) => config.bytes === bytes);
  if (known !== undefined) return known;
  const sizes = Object.values(CONFIGS).map((config) => config.bytes);
  throw formatError(subject, `one of ${sizes.join(', ')}`, String(bytes));
}

function postOf(sectorsPerPartition: number) {
  return {
    windowPost: { sectorsPerPartition, challenges: 10 },
    winningPost: { challenges: 66 },
  };
}

/** @param base levels of eight children, with further levels of the given arities above */
function shape(size: SectorSize, bytes: number, base: number, above: readonly number[]) {
  const nodes = bytes / NODE_BYTES;
  const treeParts = [new Array<number>(base).fill(8), ...above.map((arity) => [arity])];
  const treeArities = treeParts.flat();
  assert(treeArities.reduce((a, b) => a * b) === nodes, `${size}: expected trees over its nodes`);
  const dataArities = new Array<number>(Math.log2(nodes)).fill(2);
  return { size, bytes, nodes, treeParts, treeArities, dataArities };
}
