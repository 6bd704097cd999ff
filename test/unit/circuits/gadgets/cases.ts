import { label } from '../../../../src/circuits/filecoin/porep.ts';
import { sectorConfig } from '../../../../src/circuits/filecoin/sector-size.ts';
import {
  apexRoot,
  drawChallenges,
  highBits,
} from '../../../../src/circuits/filecoin/snap-deals.ts';
import { and, choose, majority, xor } from '../../../../src/circuits/gadgets/boolean.ts';
import { insert, select } from '../../../../src/circuits/gadgets/insertion.ts';
import {
  inclusion,
  inclusionAt,
  POSEIDON_NODE,
  SHA256_NODE,
} from '../../../../src/circuits/gadgets/merkle.ts';
import {
  add,
  equal,
  multiply,
  pack,
  pick,
  publish,
  publishBits,
  toBits,
  unpack,
  witness,
  witnessBit,
} from '../../../../src/circuits/gadgets/number.ts';
import { PackedEqualities } from '../../../../src/circuits/gadgets/packed-equalities.ts';
import { poseidon } from '../../../../src/circuits/gadgets/poseidon.ts';
import { sha256 } from '../../../../src/circuits/gadgets/sha256.ts';
import { addMany } from '../../../../src/circuits/gadgets/uint32.ts';
import { ARBITRARY_TAG } from '../../../../src/math/poseidon.ts';
import type { Wire } from '../../../../src/r1cs/linear-combination.ts';
import type { Recorder } from '../../../../src/r1cs/recorder.ts';
import { type Bit, type Literal, not } from '../../../../src/r1cs/recorder-signals.ts';
import type { Result } from '../harness.ts';

export interface Operands {
  readonly bits: readonly Bit[];
  readonly numbers: readonly Wire[];
}

/** A gadget over operands: bits (`b`, negated `n`, constant `T` or `F`) and numbers (`#`). */
export interface GadgetCase {
  readonly operands: string;
  readonly build: (cs: Recorder, operands: Operands) => Result;
}

/** Operands that the prover chooses. */
export function allocateOperands(cs: Recorder, operands: string): Operands {
  const bits: Bit[] = [];
  const numbers: Wire[] = [];
  for (const kind of operands) {
    if (kind === '#') numbers.push(witness(cs));
    else if (kind === 'T' || kind === 'F') bits.push(kind === 'T');
    else bits.push(kind === 'n' ? not(witnessBit(cs)) : witnessBit(cs));
  }
  return { bits, numbers };
}

/** Every gadget whose cost is pinned in test/golden/constraints.csv. */
export const CASES: Readonly<Record<string, GadgetCase>> = {
  bit: { operands: '', build: (cs) => witnessBit(cs) },
  xor: { operands: 'bb', build: (cs, { bits: [x, y] }) => xor(cs, x as Bit, y as Bit) },
  and: { operands: 'bb', build: (cs, { bits: [x, y] }) => and(cs, x as Bit, y as Bit) },
  'and not': { operands: 'nb', build: (cs, { bits: [x, y] }) => and(cs, x as Bit, y as Bit) },
  nor: { operands: 'nn', build: (cs, { bits: [x, y] }) => and(cs, x as Bit, y as Bit) },
  choose: ternary(choose, 'bbb'),
  'choose, negated': ternary(choose, 'nbn'),
  majority: ternary(majority, 'bbb'),
  'majority, negated': ternary(majority, 'bnn'),
  'sum of 2 words': sumOf(2),
  'sum of 4 words': sumOf(4),
  'sum of 7 words': sumOf(7),
  'sum of 10 words': sumOf(10),
  'sums of 2 words, 8 of them': {
    operands: 'b'.repeat(64),
    build: (cs, { bits }) => {
      const equalities = new PackedEqualities(cs);
      const words = [bits.slice(0, 32), bits.slice(32)];
      const sums = Array.from({ length: 8 }, () => addMany(cs, equalities, words));
      equalities.finish();
      return sums.flat();
    },
  },
  'sha256 of no bytes': { operands: '', build: sha256Of },
  'sha256 of 4 bytes': { operands: 'b'.repeat(32), build: sha256Of },
  'sha256 of 64 bytes': { operands: 'b'.repeat(512), build: sha256Of },
  'sha256 of 128 bytes': { operands: 'b'.repeat(1024), build: sha256Of },
  'sha256 node of 2': hashOf(SHA256_NODE.hash, 2),
  'publish a number': one((cs, x) => nothing(publish(cs, x))),
  'publish 64 bits': {
    operands: 'b'.repeat(64),
    build: (cs, { bits }) => nothing(publishBits(cs, bits)),
  },
  'bits of a number': one((cs, x) => toBits(cs, x)),
  'bits of a number, strict row': one((cs, x) => unpack(cs, x, 255)),
  'pack 254 bits': { operands: 'b'.repeat(254), build: (cs, { bits }) => pack(cs, bits) },
  'pack no bits': { operands: '', build: (cs, { bits }) => pack(cs, bits) },
  equal: two((cs, x, y) => nothing(equal(cs, x, y))),
  add: two(add),
  multiply: two(multiply),
  pick: {
    operands: 'b##',
    build: (cs, { bits: [bit], numbers: [x, y] }) => pick(cs, bit as Bit, x as Wire, y as Wire),
  },
  'insert among 2': insertion(2),
  'insert among 4': insertion(4),
  'insert among 8': insertion(8),
  'select of 8': {
    operands: `bbb${'#'.repeat(8)}`,
    build: (cs, { bits, numbers }) => select(cs, numbers, bits),
  },
  'poseidon of 2': hashOf(poseidon, 2),
  'poseidon of 2, arbitrary tag': hashOf((cs, x) => poseidon(cs, x, ARBITRARY_TAG), 2),
  'poseidon of 4': hashOf(poseidon, 4),
  'poseidon of 8': hashOf(poseidon, 8),
  'poseidon of 11': hashOf(poseidon, 11),
  'poseidon of 16': hashOf(poseidon, 16),
  'poseidon of 24': hashOf(poseidon, 24),
  'poseidon of 36': hashOf(poseidon, 36),
  'inclusion, poseidon 8-8': inclusionIn(POSEIDON_NODE, [8, 8]),
  'inclusion, poseidon 8-4-2': inclusionIn(POSEIDON_NODE, [8, 4, 2]),
  'inclusion, sha256 2': inclusionIn(SHA256_NODE, [2]),
  'inclusion at an index, poseidon 8-2': {
    operands: `bbbb##${'#'.repeat(8)}`,
    build: (cs, { bits, numbers: [node, root, ...siblings] }) => {
      const levels = [siblings.slice(0, 7), siblings.slice(7)];
      const at = { hash: POSEIDON_NODE, levels, index: bits };
      return nothing(inclusionAt(cs, node as Wire, root as Wire, at));
    },
  },
  'label of layer 1': labelOf(1),
  'label of layer 2': labelOf(2),
  'label of layer 11': labelOf(11),
  'snap-deals challenges, 2KiB': challengesOf('2KiB'),
  'snap-deals challenges, 512MiB': challengesOf('512MiB'),
  'snap-deals challenges, 32GiB': challengesOf('32GiB'),
  'snap-deals high bits': {
    operands: 'b'.repeat(36),
    build: (cs, { bits }) => {
      const counts = sectorConfig('32GiB').snapDeals.highBits;
      return highBits(cs, bits.slice(6), bits.slice(0, 6) as Literal[], counts);
    },
  },
  'snap-deals apex of 8': {
    operands: '########',
    build: (cs, { numbers }) => apexRoot(cs, numbers),
  },
};

/** What a gadget returns that only constrains. */
function nothing(_: unknown): Result {
  return [];
}

function ternary(gadget: typeof choose, operands: string): GadgetCase {
  return {
    operands,
    build: (cs, { bits: [x, y, z] }) => gadget(cs, x as Bit, y as Bit, z as Bit),
  };
}

function one(build: (cs: Recorder, x: Wire) => Result): GadgetCase {
  return { operands: '#', build: (cs, { numbers: [x] }) => build(cs, x as Wire) };
}

function two(build: (cs: Recorder, x: Wire, y: Wire) => Result): GadgetCase {
  return { operands: '##', build: (cs, { numbers: [x, y] }) => build(cs, x as Wire, y as Wire) };
}

function sumOf(count: number): GadgetCase {
  return {
    operands: 'b'.repeat(32 * count),
    build: (cs, { bits }) => {
      const equalities = new PackedEqualities(cs);
      const words = Array.from({ length: count }, (_, i) => bits.slice(32 * i, 32 * (i + 1)));
      const sum = addMany(cs, equalities, words);
      equalities.finish();
      return sum;
    },
  };
}

function sha256Of(cs: Recorder, { bits }: Operands): Result {
  return sha256(cs, bits);
}

function hashOf(hash: (cs: Recorder, x: readonly Wire[]) => Wire, arity: number): GadgetCase {
  return { operands: '#'.repeat(arity), build: (cs, { numbers }) => hash(cs, numbers) };
}

function insertion(arity: number): GadgetCase {
  return {
    operands: `${'b'.repeat(Math.log2(arity))}${'#'.repeat(arity)}`,
    build: (cs, { bits, numbers: [node, ...siblings] }) => insert(cs, node as Wire, siblings, bits),
  };
}

function inclusionIn(hash: typeof POSEIDON_NODE, arities: readonly number[]): GadgetCase {
  return two((cs, node, root) => nothing(inclusion(cs, node, root, { hash, arities })));
}

function labelOf(layer: number): GadgetCase {
  return {
    operands: `${'b'.repeat(255)}${'b'.repeat(64)}${'#'.repeat(layer === 1 ? 6 : 14)}`,
    build: (cs, { bits, numbers }) => {
      // The replica id has 255 bits; in the order of bytes the missing one is the 248th.
      const id = [...bits.slice(0, 248), false, ...bits.slice(248, 255)];
      return label(cs, id, layer, bits.slice(255), numbers);
    },
  };
}

function challengesOf(size: '2KiB' | '512MiB' | '32GiB'): GadgetCase {
  return two((cs, commRNew, partition) =>
    drawChallenges(cs, sectorConfig(size), commRNew, partition).flat(),
  );
}
