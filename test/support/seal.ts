import { createHash } from 'node:crypto';
import { type HashNode, sha256Node } from '../../src/circuits/filecoin/check-path.ts';
import { type GraphRules, StackedGraph } from '../../src/circuits/filecoin/graph.ts';
import { readBigIntLE, writeBigIntLE } from '../../src/core/bytes.ts';
import { curveOf } from '../../src/math/curve.ts';
import { poseidon } from '../../src/math/poseidon.ts';

const { r } = curveOf('bls12-381');
const NODE_BYTES = 32;

/** Filecoin's sealing of small sectors, plainly: an oracle for challenges, paths and commitments. */
export interface Sealed {
  /** By layer, by node. */
  readonly labels: readonly (readonly bigint[])[];
  readonly replica: readonly bigint[];
  readonly commC: bigint;
  readonly commRLast: bigint;
  readonly commR: bigint;
}

export function seal(
  data: readonly bigint[],
  options: {
    readonly replicaId: bigint;
    readonly porepId: Uint8Array;
    readonly rules: GraphRules;
    readonly layers: number;
    readonly arities: readonly number[];
  },
): Sealed {
  const graph = new StackedGraph(data.length, options.porepId, options.rules);
  const labels = labelLayers(graph, data.length, options.layers, options.replicaId);
  const last = labels.at(-1) as readonly bigint[];
  const replica = data.map((value, i) => (value + (last[i] as bigint)) % r);
  const columns = data.map((_, i) => poseidon(labels.map((layer) => layer[i] as bigint)));
  const commC = rootOf(poseidon, columns, options.arities);
  const commRLast = rootOf(poseidon, replica, options.arities);
  return { labels, replica, commC, commRLast, commR: poseidon([commC, commRLast]) };
}

export function labelLayers(
  graph: StackedGraph,
  nodes: number,
  layers: number,
  replicaId: bigint,
): bigint[][] {
  const all: bigint[][] = [];
  for (let layer = 1; layer <= layers; layer++) {
    const before = all.at(-1);
    const current: bigint[] = [];
    for (let node = 0; node < nodes; node++) {
      const parents = graph.drgParents(node).map((parent) => current[parent] as bigint);
      if (before !== undefined) {
        parents.push(...graph.expParents(node).map((parent) => before[parent] as bigint));
      }
      current.push(label(replicaId, layer, node, node === 0 ? [] : parents));
    }
    all.push(current);
  }
  return all;
}

function label(replicaId: bigint, layer: number, node: number, parents: readonly bigint[]): bigint {
  const head = Buffer.alloc(NODE_BYTES);
  head.writeUInt32BE(layer, 0);
  head.writeBigUInt64BE(BigInt(node), 4);
  const hash = createHash('sha256').update(writeBigIntLE(replicaId, NODE_BYTES)).update(head);
  for (let i = 0; i < 37 && parents.length > 0; i++) {
    hash.update(writeBigIntLE(parents[i % parents.length] as bigint, NODE_BYTES));
  }
  return BigInt.asUintN(254, readBigIntLE(hash.digest()));
}

/** Bytes as nodes. */
export function nodesOf(bytes: Uint8Array): bigint[] {
  return Array.from({ length: bytes.length / NODE_BYTES }, (_, i) =>
    readBigIntLE(bytes.subarray(i * NODE_BYTES, (i + 1) * NODE_BYTES)),
  );
}

export function dataRoot(data: readonly bigint[]): bigint {
  return rootOf(sha256Node, data, new Array(Math.log2(data.length)).fill(2));
}

function rootOf(hash: HashNode, leaves: readonly bigint[], arities: readonly number[]): bigint {
  const rows = arities.reduce<readonly bigint[]>(
    (row, arity) =>
      Array.from({ length: row.length / arity }, (_, i) =>
        hash(row.slice(i * arity, (i + 1) * arity)),
      ),
    leaves,
  );
  return rows[0] as bigint;
}
