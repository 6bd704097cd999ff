import type { Wire } from '../../r1cs/linear-combination.ts';
import { type Recorder, recordProgram } from '../../r1cs/recorder.ts';
import { inclusion, POSEIDON_NODE } from '../gadgets/merkle.ts';
import { equal, publish, witness } from '../gadgets/number.ts';
import { poseidon } from '../gadgets/poseidon.ts';
import type { SectorConfig } from './sector-size.ts';

/**
 * The FallbackPoSt circuit (storage-proofs-post): for each sector, that comm_r commits to a replica
 * of which the prover knows leaves. Public inputs, for each sector: comm_r, then the leaf indices.
 * Prover and sector number are not in it: they are in what the indices are drawn from.
 */
export function windowPostProgram(config: SectorConfig): Uint8Array {
  const { sectorsPerPartition, challenges } = config.windowPost;
  return postProgram('window-post', config, sectorsPerPartition, challenges);
}

/** The same circuit, in which each challenge of the one sector counts as a sector. */
export function winningPostProgram(config: SectorConfig): Uint8Array {
  return postProgram('winning-post', config, config.winningPost.challenges, 1);
}

function postProgram(
  name: string,
  { treeArities }: SectorConfig,
  sectors: number,
  challenges: number,
): Uint8Array {
  return recordProgram(name, (cs) => {
    for (let sector = 0; sector < sectors; sector++) {
      cs.scope(`sector ${sector}`, () => openSector(cs, treeArities, challenges));
    }
  });
}

/** Private inputs: comm_r_last, comm_c, comm_r, then for each challenge the leaf and its path. */
function openSector(cs: Recorder, arities: readonly number[], challenges: number): void {
  cs.template('sector', [], (inner) => {
    const commRLast = witness(inner);
    const commC = witness(inner);
    const commR = witness(inner);
    publish(inner, commR);
    inner.scope('comm_r', () => equal(inner, commR, poseidon(inner, [commC, commRLast])));
    for (let challenge = 0; challenge < challenges; challenge++) {
      inner.scope(`challenge ${challenge}`, () => openLeaf(inner, commRLast, arities));
    }
    return [];
  });
}

function openLeaf(cs: Recorder, commRLast: Wire, arities: readonly number[]): void {
  cs.template('leaf', [commRLast], (inner, [root]) => {
    inclusion(inner, witness(inner), root, { hash: POSEIDON_NODE, arities });
    return [];
  });
}
