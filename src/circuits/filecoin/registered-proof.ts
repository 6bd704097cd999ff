import { formatError } from '../../core/errors.ts';
import type { CircuitKind } from './circuits.ts';
import type { GraphRules } from './graph.ts';
import { SECTOR_SIZES, type SectorSize } from './sector-size.ts';

/** How the challenges of PoRep are drawn. */
export type PorepFeature = 'interactive' | 'synthetic' | 'non-interactive';

/**
 * A proof type as the chain registers it: what proofs of that type have to obey. Numbers and names:
 * rust-filecoin-proofs-api, src/registry.rs; Go names: go-state-types, abi/sector.go.
 */
export interface RegisteredProof {
  readonly circuit: CircuitKind;
  readonly sectorSize: SectorSize;
  readonly name: string;
  /** Unique among the proofs of replication, of spacetime and of updates each. */
  readonly number: number;
  /** Of PoRep; that of the interactive rules elsewhere. */
  readonly feature: PorepFeature;
  readonly graph: GraphRules;
  /** Whether the challenges of WindowPoSt and WinningPoSt count on from sector to sector. */
  readonly globalChallenges: boolean;
}

const V1_0: GraphRules = { predecessorFirst: false, truncatesExpansion: true };
const V1_1: GraphRules = { predecessorFirst: true, truncatesExpansion: false };

interface Family {
  readonly circuit: CircuitKind;
  /** Number of the smallest size's; the others follow. */
  readonly first: number;
  /** Around the sector size: the proofs API's first, then other spellings. */
  readonly names: readonly (readonly [string, string])[];
  readonly feature?: PorepFeature;
  readonly graph?: GraphRules;
  readonly globalChallenges?: boolean;
}

const SEAL = 'StackedDrg';
const FAMILIES: readonly Family[] = [
  { circuit: 'porep', first: 0, names: [[SEAL, 'V1']], graph: V1_0 },
  { circuit: 'porep', first: 5, names: [[SEAL, 'V1_1']] },
  {
    ...{ circuit: 'porep', first: 10, feature: 'synthetic' },
    names: [[SEAL, 'V1_1_Feat_SyntheticPoRep']],
  },
  {
    ...{ circuit: 'porep', first: 15, feature: 'non-interactive' },
    names: [
      [SEAL, 'V1_2_Feat_NonInteractivePoRep'],
      [SEAL, 'V1_2_Feat_NiPoRep'],
    ],
  },
  {
    ...{ circuit: 'winning-post', first: 0, globalChallenges: true },
    names: [['StackedDrgWinning', 'V1']],
  },
  {
    ...{ circuit: 'window-post', first: 5, globalChallenges: true },
    names: [['StackedDrgWindow', 'V1']],
  },
  {
    ...{ circuit: 'window-post', first: 10 },
    names: [
      ['StackedDrgWindow', 'V1_2'],
      ['StackedDrgWindow', 'V1_1'],
    ],
  },
  { circuit: 'snap-deals', first: 0, names: [[SEAL, 'V1']] },
];

/**
 * The registered proof of a circuit by its name or number.
 * @throws ERR_FORMAT that names `subject`
 */
export function registeredProof(
  subject: string,
  circuit: CircuitKind,
  nameOrNumber: unknown,
): RegisteredProof {
  for (const family of FAMILIES) {
    if (family.circuit !== circuit) continue;
    for (const [i, size] of SECTOR_SIZES.entries()) {
      const names = family.names.map(([before, after]) => `${before}${size}${after}`);
      if (nameOrNumber === family.first + i || names.includes(String(nameOrNumber))) {
        return proofOf(family, size, names[0] as string, family.first + i);
      }
    }
  }
  throw formatError(subject, `a registered proof of ${circuit}`, describe(nameOrNumber));
}

function proofOf(
  { circuit, feature = 'interactive', graph = V1_1, globalChallenges = false }: Family,
  sectorSize: SectorSize,
  name: string,
  number: number,
): RegisteredProof {
  return { circuit, sectorSize, name, number, feature, graph, globalChallenges };
}

function describe(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : 'something else';
}

/** The PoRep id of a registered proof: its number, and the nonce 0. 32 bytes. */
export function porepIdOf({ number }: RegisteredProof): Uint8Array {
  const id = new Uint8Array(32);
  id[0] = number;
  return id;
}
