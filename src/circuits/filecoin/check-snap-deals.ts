import { formatError } from '../../core/errors.ts';
import { curveOf } from '../../math/curve.ts';
import type { Pacer } from '../../math/pacer.ts';
import { type Poseidon, poseidon } from '../../math/poseidon.ts';
import { checkPath, climb, demand, sha256Node } from './check-path.ts';
import { type SectorConfig, sectorConfig } from './sector-size.ts';
import { phiOf, rhoOf, snapChallenges } from './snap-challenges.ts';
import type { SnapDealsStatement } from './statement.ts';
import type { UpdateChallengeProof, UpdateProof } from './vanilla.ts';

const { r } = curveOf('bls12-381');

/** What the challenges of an update are checked against. */
interface Update {
  readonly config: SectorConfig;
  readonly commDNew: bigint;
  readonly phi: bigint;
  readonly oldRoot: bigint;
  readonly newRoot: bigint;
  readonly apexLeaves: readonly bigint[];
  readonly hash: Poseidon;
}

/**
 * That every value of a partition's vanilla proof is what the statement asks for.
 * @throws ERR_FORMAT naming partition, challenge and field
 */
export async function checkSnapDealsPartition(
  statement: SnapDealsStatement,
  partition: number,
  { commC, apexLeaves, challenges }: UpdateProof,
  pacer: Pacer,
  hash: Poseidon = poseidon,
): Promise<void> {
  const { commROld, commRNew, commDNew } = statement;
  const config = sectorConfig(statement.proof.sectorSize);
  const nodes = snapChallenges(config, commRNew, partition);
  const where = `partition ${partition}`;
  const [first] = challenges;
  if (first === undefined || challenges.length !== nodes.length) {
    throw formatError(where, `${nodes.length} challenges`, challenges.length);
  }
  const [oldRoot, newRoot] = [first.oldReplica.root, first.newReplica.root];
  const isOld = hash([commC, oldRoot]) === commROld;
  demand(isOld, `${where}: comm_c and old root`, 'ones that hash to comm_r_old');
  const isNew = hash([commC, newRoot]) === commRNew;
  demand(isNew, `${where}: comm_c and new root`, 'ones that hash to comm_r_new');
  const phi = phiOf(commDNew, commROld);
  const update = { config, commDNew, phi, oldRoot, newRoot, apexLeaves, hash };
  checkApex(where, update, first);
  for (const [i, challenge] of challenges.entries()) {
    checkChallenge(`${where}, challenge ${i}`, update, nodes[i] as number, challenge);
    if (pacer.due) await pacer.pause();
  }
}

/** The apex leaves are the nodes of one row of the partition's part of tree D. */
function checkApex(where: string, update: Update, { newData }: UpdateChallengeProof): void {
  const { config, commDNew, apexLeaves } = update;
  let row = apexLeaves;
  while (row.length > 1) {
    const pairs = Array.from({ length: row.length / 2 }, (_, i) => row.slice(2 * i, 2 * i + 2));
    row = pairs.map(sha256Node);
  }
  const above = newData.path.slice(newData.path.length - Math.log2(config.snapDeals.partitions));
  const root = climb(sha256Node, row[0] as bigint, above);
  demand(root === commDNew, `${where}: apex leafs`, 'ones that lead to comm_d_new');
}

function checkChallenge(
  where: string,
  { config, commDNew, phi, oldRoot, newRoot, apexLeaves, hash }: Update,
  node: number,
  { oldReplica, newData, newReplica }: UpdateChallengeProof,
): void {
  const replica = { hash, index: node };
  const old = { ...replica, root: oldRoot, rootName: 'the old root' };
  checkPath(`${where}, proof_r_old`, oldReplica, old);
  const data = { hash: sha256Node, index: node, root: commDNew, rootName: 'comm_d_new' };
  checkPath(`${where}, proof_d_new`, newData, data);
  const fresh = { ...replica, root: newRoot, rootName: 'the new root' };
  checkPath(`${where}, proof_r_new`, newReplica, fresh);
  const encoded = (oldReplica.leaf + newData.leaf * rhoOf(config, phi, node)) % r;
  demand(newReplica.leaf === encoded, `${where}, proof_r_new: leaf`, 'old replica plus data');
  const leavesBelow = config.nodes / config.snapDeals.partitions / apexLeaves.length;
  const below = climb(sha256Node, newData.leaf, newData.path.slice(0, Math.log2(leavesBelow)));
  const apexLeaf = apexLeaves[Math.floor(node / leavesBelow) % apexLeaves.length];
  demand(below === apexLeaf, `${where}, proof_d_new: path`, 'one through its apex leaf');
}
