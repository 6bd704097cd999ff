import { createHash } from 'node:crypto';
import { equalBytes, readBigIntLE, writeBigIntLE } from '../../core/bytes.ts';
import { formatError } from '../../core/errors.ts';
import { curveOf } from '../../math/curve.ts';
import type { Pacer } from '../../math/pacer.ts';
import { type Poseidon, poseidon } from '../../math/poseidon.ts';
import { checkPath, demand, sha256Node } from './check-path.ts';
import { StackedGraph } from './graph.ts';
import { porepChallenges, replicaIdOf } from './porep-challenges.ts';
import { LABEL_PARENTS, NODE_BYTES, sectorConfig } from './sector-size.ts';
import type { PorepStatement } from './statement.ts';
import type { ColumnProof, LabelingProof, PorepChallengeProof, PorepVanilla } from './vanilla.ts';

const { r } = curveOf('bls12-381');

/** The roots that all challenges of a replica share. */
interface Roots {
  readonly commC: bigint;
  readonly commRLast: bigint;
}

/**
 * That a sealer's output is of the sector of the statement.
 * @throws ERR_FORMAT naming the field
 */
export function checkPorepHead(statement: PorepStatement, vanilla: PorepVanilla): void {
  demand(vanilla.commD === statement.commD, 'comm_d', "the statement's");
  demand(vanilla.commR === statement.commR, 'comm_r', "the statement's");
  demand(equalBytes(vanilla.ticket, statement.ticket), 'ticket', "the statement's");
  demand(equalBytes(vanilla.seed, statement.seed), 'seed', "the statement's");
  const expected = 'that of prover, sector, ticket, comm_d and PoRep id';
  demand(vanilla.replicaId === replicaIdOf(statement), 'replica_id', expected);
}

/**
 * That every value of a partition's vanilla proof is what the statement asks for: the challenged
 * nodes, their parents, labels, encoding and paths.
 * @throws ERR_FORMAT naming partition, challenge and field
 */
export async function checkPorepPartition(
  statement: PorepStatement,
  partition: number,
  challenges: readonly PorepChallengeProof[],
  pacer: Pacer,
  hash: Poseidon = poseidon,
): Promise<void> {
  const nodes = porepChallenges(statement, partition);
  const [first] = challenges;
  if (first === undefined || challenges.length !== nodes.length) {
    throw formatError(`partition ${partition}`, `${nodes.length} challenges`, challenges.length);
  }
  const roots = { commC: first.column.inclusion.root, commRLast: first.replica.root };
  const commR = hash([roots.commC, roots.commRLast]);
  const expected = "roots of trees C and R that hash to the statement's";
  demand(commR === statement.commR, `partition ${partition}: comm_r`, expected);
  const graph = graphOf(statement);
  for (const [i, challenge] of challenges.entries()) {
    const where = `partition ${partition}, challenge ${i}`;
    const node = nodes[i] as number;
    await checkChallenge(where, { statement, roots, graph, node, hash }, challenge, pacer);
  }
}

function graphOf({ proof, porepId }: PorepStatement): StackedGraph {
  return new StackedGraph(sectorConfig(proof.sectorSize).nodes, porepId, proof.graph);
}

interface Challenge {
  readonly statement: PorepStatement;
  readonly roots: Roots;
  readonly graph: StackedGraph;
  readonly node: number;
  readonly hash: Poseidon;
}

async function checkChallenge(
  where: string,
  { statement, roots, graph, node, hash }: Challenge,
  proof: PorepChallengeProof,
  pacer: Pacer,
): Promise<void> {
  const { commC, commRLast } = roots;
  const data = { hash: sha256Node, index: node, root: statement.commD, rootName: 'comm_d' };
  checkPath(`${where}, comm_d_proofs`, proof.data, data);
  const replica = { hash, index: node, root: commRLast, rootName: 'comm_r_last' };
  checkPath(`${where}, comm_r_last_proof`, proof.replica, replica);
  const check = (what: string, column: ColumnProof, index: number) =>
    checkColumn(`${where}, ${what}`, column, index, { commC, hash });
  check('c_x', proof.column, node);
  if (pacer.due) await pacer.pause();
  const [drg, exp] = [graph.drgParents(node), graph.expParents(node)];
  for (const [i, parent] of proof.drgParents.entries()) {
    check(`drg parent ${i}`, parent, drg[i] as number);
    if (pacer.due) await pacer.pause();
  }
  for (const [i, parent] of proof.expParents.entries()) {
    check(`exp parent ${i}`, parent, exp[i] as number);
    if (pacer.due) await pacer.pause();
  }
  checkLabels(where, statement, node, proof);
  const encoded = ((proof.column.rows.at(-1) as bigint) + proof.data.leaf) % r;
  demand(proof.replica.leaf === encoded, `${where}, comm_r_last_proof: leaf`, 'label plus data');
}

function checkColumn(
  where: string,
  { index, rows, inclusion }: ColumnProof,
  node: number,
  { commC, hash }: { readonly commC: bigint; readonly hash: Poseidon },
): void {
  if (index !== node) throw formatError(`${where}: node`, String(node), index);
  demand(inclusion.leaf === hash(rows), `${where}: leaf`, 'the hash of the column');
  checkPath(where, inclusion, { hash, index: node, root: commC, rootName: 'comm_c' });
}

/** Each label is the hash of the parents' labels, on its own layer and the one before. */
function checkLabels(
  where: string,
  statement: PorepStatement,
  node: number,
  { labelings, encoding, drgParents, expParents, column }: PorepChallengeProof,
): void {
  const replicaId = replicaIdOf(statement);
  const parentsOn = (layer: number) => [
    ...drgParents.map(({ rows }) => rows[layer - 1] as bigint),
    ...(layer > 1 ? expParents.map(({ rows }) => rows[layer - 2] as bigint) : []),
  ];
  for (const [i, labeling] of [...labelings, encoding].entries()) {
    const layer = Math.min(i + 1, labelings.length);
    const part = i < labelings.length ? `labeling ${i}` : 'encoding';
    checkLabeling(`${where}, ${part}`, labeling, { layer, node, parents: parentsOn(layer) });
    const label = labelOf(replicaId, labeling);
    demand(label === column.rows[layer - 1], `${where}, c_x: layer ${layer}`, 'the label');
  }
}

function checkLabeling(
  where: string,
  labeling: LabelingProof,
  expected: { readonly layer: number; readonly node: number; readonly parents: readonly bigint[] },
): void {
  const { layer, node, parents } = expected;
  if (labeling.layer !== layer) throw formatError(`${where}: layer`, `${layer}`, labeling.layer);
  if (labeling.node !== BigInt(node)) {
    throw formatError(`${where}: node`, String(node), String(labeling.node));
  }
  const other = labeling.parents.findIndex((label, i) => label !== parents[i % parents.length]);
  demand(other < 0, `${where}: parent ${other}`, "the parent's label");
}

/** storage-proofs-porep, stacked/vanilla/create_label. */
function labelOf(replicaId: bigint, { layer, node, parents }: LabelingProof): bigint {
  const head = Buffer.alloc(NODE_BYTES);
  head.writeUInt32BE(layer, 0);
  head.writeBigUInt64BE(node, 4);
  const hash = createHash('sha256').update(writeBigIntLE(replicaId, NODE_BYTES)).update(head);
  for (let i = 0; i < LABEL_PARENTS; i++)
    hash.update(writeBigIntLE(parents[i] as bigint, NODE_BYTES));
  return BigInt.asUintN(254, readBigIntLE(hash.digest()));
}
