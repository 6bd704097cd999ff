import type { Wire } from '../../r1cs/linear-combination.ts';
import { type Recorder, recordProgram } from '../../r1cs/recorder.ts';
import type { Bit } from '../../r1cs/recorder-signals.ts';
import { inclusion, POSEIDON_NODE, SHA256_NODE } from '../gadgets/merkle.ts';
import {
  add,
  equal,
  pack,
  publish,
  publishBits,
  reverseBytes,
  toBits,
  witness,
  witnessBit,
} from '../gadgets/number.ts';
import { poseidon } from '../gadgets/poseidon.ts';
import { sha256 } from '../gadgets/sha256.ts';
import { DRG_PARENTS, EXP_PARENTS, LABEL_PARENTS, type SectorConfig } from './sector-size.ts';

const LAYER_BITS = 32;
const NODE_NUMBER_BITS = 64;
const NODE_BITS = 256;

/** The numbers that all challenges of a partition share. */
interface Sector {
  readonly commD: Wire;
  readonly commC: Wire;
  readonly commRLast: Wire;
  readonly replicaIdBits: readonly Bit[];
}

/**
 * The StackedDRG circuit (storage-proofs-porep): that the challenged nodes of a replica were
 * labelled and encoded as its commitments say. Public inputs: replica id, comm_d, comm_r; then for
 * each challenge its node, the numbers of its parents, and the node three times more (label, trees
 * R and C). Which nodes are challenged, and by which rule, is not in the circuit.
 */
export function porepProgram(config: SectorConfig): Uint8Array {
  return recordProgram('porep', (cs) => {
    const sector = openSector(cs);
    const { commD, commC, commRLast, replicaIdBits } = sector;
    const inputs = [commD, commC, commRLast, replicaIdBits] as const;
    for (let i = 0; i < config.porep.challengesPerPartition; i++) {
      cs.scope(`challenge ${i}`, () =>
        cs.template('challenge', inputs, (inner, [d, c, rLast, bits]) => {
          openChallenge(inner, config, {
            ...{ commD: d, commC: c, commRLast: rLast, replicaIdBits: bits },
          });
          return [];
        }),
      );
    }
  });
}

/** Private inputs: replica id, comm_d, comm_r, comm_r_last, comm_c. */
function openSector(cs: Recorder): Sector {
  const replicaId = witness(cs);
  publish(cs, replicaId);
  const replicaIdBits = cs.scope('replica id', () => reverseBytes(toBits(cs, replicaId)));
  const commD = witness(cs);
  publish(cs, commD);
  const commR = witness(cs);
  publish(cs, commR);
  const commRLast = witness(cs);
  const commC = witness(cs);
  cs.scope('comm_r', () => equal(cs, commR, poseidon(cs, [commC, commRLast])));
  return { commD, commC, commRLast, replicaIdBits };
}

/**
 * Private inputs: the data leaf and its path; each parent's column and path; the 64 bits of the
 * node's number; the node's paths in trees R and C.
 */
function openChallenge(cs: Recorder, config: SectorConfig, sector: Sector): void {
  const { commD, commC, commRLast, replicaIdBits } = sector;
  const { layers, dataArities, treeArities: arities } = config;
  const columnTree = { hash: POSEIDON_NODE, arities };
  const dataLeaf = witness(cs);
  cs.scope('tree D', () => {
    inclusion(cs, dataLeaf, commD, { hash: SHA256_NODE, arities: dataArities });
  });
  const openParent = (kind: string, i: number) =>
    cs.scope(`${kind} parent ${i}`, () => openColumn(cs, commC, columnTree.arities, layers));
  const drg = Array.from({ length: DRG_PARENTS }, (_, i) => openParent('drg', i));
  const exp = Array.from({ length: EXP_PARENTS }, (_, i) => openParent('exp', i));
  const node = Array.from({ length: NODE_NUMBER_BITS }, () => witnessBit(cs));
  cs.scope('node number', () => publishBits(cs, node));
  const labels = Array.from({ length: layers }, (_, i) => {
    const layer = i + 1;
    const parents = drg.map((column) => column[i] as Wire);
    if (layer > 1) parents.push(...exp.map((column) => column[i - 1] as Wire));
    return cs.scope(`layer ${layer}`, () => label(cs, replicaIdBits, layer, node, parents));
  });
  const encoded = cs.scope('encoding', () => add(cs, labels[layers - 1] as Wire, dataLeaf));
  cs.scope('tree R', () => inclusion(cs, encoded, commRLast, columnTree));
  cs.scope('tree C', () => inclusion(cs, poseidon(cs, labels), commC, columnTree));
}

/** Private inputs: the column's labels, first layer first, and its path in tree C. */
function openColumn(
  cs: Recorder,
  commC: Wire,
  arities: readonly number[],
  layers: number,
): readonly Wire[] {
  return cs.template('column', [commC], (inner, [root]) => {
    const labels = Array.from({ length: layers }, () => witness(inner));
    inclusion(inner, poseidon(inner, labels), root, { hash: POSEIDON_NODE, arities });
    return labels;
  });
}

/**
 * A node's label: SHA-256 of replica id, layer, node number and 37 parents, as many times round as
 * they go, its two highest bits cleared.
 * @param replicaId 256 bits in the order of bytes
 * @param node      64 bits, the least significant first
 * @param parents   6 on the first layer, 14 on others
 * @cost  522,269 constraints, and 256 for each of `parents`
 */
export function label(
  cs: Recorder,
  replicaId: readonly Bit[],
  layer: number,
  node: readonly Bit[],
  parents: readonly Wire[],
): Wire {
  const inputs = [replicaId, node, parents] as const;
  return cs.template(`label of layer ${layer}`, inputs, (inner, [id, number, numbers]) => {
    const bits = numbers.map((parent, i) =>
      inner.scope(`parent ${i}`, () => reverseBytes(toBits(inner, parent))),
    );
    const head = [...id, ...bigEndian(layer), ...number.toReversed()];
    const rest = new Array<Bit>(2 * NODE_BITS - head.length).fill(false);
    const all = Array.from({ length: LABEL_PARENTS }, (_, i) => bits[i % bits.length]);
    const digest = sha256(inner, [...head, ...rest, ...all.flatMap((each) => each as Bit[])]);
    return pack(inner, reverseBytes(digest));
  });
}

function bigEndian(value: number): Bit[] {
  return Array.from(value.toString(2).padStart(LAYER_BITS, '0'), (digit) => digit === '1');
}
