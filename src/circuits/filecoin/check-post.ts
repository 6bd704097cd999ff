import { formatError } from '../../core/errors.ts';
import type { Pacer } from '../../math/pacer.ts';
import { type Poseidon, poseidon } from '../../math/poseidon.ts';
import { checkPath, demand } from './check-path.ts';
import { type ChallengedSector, postChallenges } from './post-challenges.ts';
import type { PostStatement } from './statement.ts';
import type { SectorProof } from './vanilla.ts';

/**
 * That the vanilla proofs are of a partition's sectors, and every value in them what the statement
 * asks for.
 * @returns the proofs in the order of the sectors
 * @throws  ERR_FORMAT naming partition, sector, challenge and field
 */
export async function checkPostPartition(
  statement: PostStatement,
  partition: number,
  proofs: readonly SectorProof[],
  pacer: Pacer,
  hash: Poseidon = poseidon,
): Promise<SectorProof[]> {
  const ordered: SectorProof[] = [];
  for (const sector of postChallenges(statement, partition)) {
    const where = `partition ${partition}, sector ${sector.number}`;
    const proof = proofs.find((each) => each.sector === sector.number);
    if (proof === undefined) throw formatError(where, 'a vanilla proof', 'none');
    await checkSector(where, sector, proof, pacer, hash);
    ordered.push(proof);
  }
  return ordered;
}

async function checkSector(
  where: string,
  { commR, leaves }: ChallengedSector,
  proof: SectorProof,
  pacer: Pacer,
  hash: Poseidon,
): Promise<void> {
  const { commC, commRLast, inclusions } = proof;
  demand(proof.commR === commR, `${where}: comm_r`, "the statement's");
  demand(
    hash([commC, commRLast]) === commR,
    `${where}: comm_c and comm_r_last`,
    'roots that hash to comm_r',
  );
  if (inclusions.length !== leaves.length) {
    throw formatError(where, `${leaves.length} challenges`, inclusions.length);
  }
  for (const [i, inclusion] of inclusions.entries()) {
    const index = leaves[i] as number;
    const expected = { hash, index, root: commRLast, rootName: 'comm_r_last' };
    checkPath(`${where}, challenge ${i}`, inclusion, expected);
    if (pacer.due) await pacer.pause();
  }
}
