import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { sha256Node } from '../../../../src/circuits/filecoin/check-path.ts';
import { insert, select } from '../../../../src/circuits/gadgets/insertion.ts';
import { SHA256_NODE } from '../../../../src/circuits/gadgets/merkle.ts';
import { pack, pick, reverseBytes, toBits } from '../../../../src/circuits/gadgets/number.ts';
import { PackedEqualities } from '../../../../src/circuits/gadgets/packed-equalities.ts';
import { poseidon as poseidonGadget } from '../../../../src/circuits/gadgets/poseidon.ts';
import { sha256 } from '../../../../src/circuits/gadgets/sha256.ts';
import { addMany, constantWord } from '../../../../src/circuits/gadgets/uint32.ts';
import { ARBITRARY_TAG, merkleTag, poseidon } from '../../../../src/math/poseidon.ts';
import type { Wire } from '../../../../src/r1cs/linear-combination.ts';
import { R } from '../../../../src/r1cs/linear-combination.ts';
import { firstFailed } from '../../../../src/r1cs/program-witness.ts';
import type { Recorder } from '../../../../src/r1cs/recorder.ts';
import type { Bit } from '../../../../src/r1cs/recorder-signals.ts';
import {
  quietPacer,
  type Recorded,
  type Result,
  record,
  run,
  sampleBits,
  sampleScalars,
} from '../harness.ts';
import { allocateOperands, type Operands } from './cases.ts';

function gadget(operands: string, build: (cs: Recorder, operands: Operands) => Result): Recorded {
  return record((cs) => build(cs, allocateOperands(cs, operands)));
}

/** What it returns for these private inputs, which satisfy it. */
async function outputs(recorded: Recorded, hints: readonly bigint[]): Promise<bigint[]> {
  const result = await run(recorded, hints);
  expect(await firstFailed(recorded.program, result.assignment, quietPacer())).toBeUndefined();
  return result.outputs;
}

/** Bits of bytes, each byte's most significant first. */
function bitsOfBytes(bytes: Uint8Array): bigint[] {
  return [...bytes].flatMap((byte) => [7, 6, 5, 4, 3, 2, 1, 0].map((i) => BigInt((byte >> i) & 1)));
}

describe('sha256', () => {
  it.each([0, 1, 4, 55, 56, 63, 64, 119, 120, 200])('of %i bytes', async (length) => {
    const message = Uint8Array.from({ length }, (_, i) => (7 * i + 3) & 255);
    const hash = record((cs) => {
      cs.allocate({ op: 'hint' });
      return sha256(cs, allocateOperands(cs, 'b'.repeat(8 * length)).bits);
    });
    const digest = createHash('sha256').update(message).digest();
    expect(await outputs(hash, [0n, ...bitsOfBytes(message)])).toEqual(bitsOfBytes(digest));
  });

  it('of a message that is constant in part', async () => {
    const message = Uint8Array.from({ length: 64 }, (_, i) => i);
    const constant = bitsOfBytes(message).map((bit) => bit === 1n);
    const hash = gadget('b'.repeat(256), (cs, { bits }) =>
      sha256(cs, [...constant.slice(0, 256), ...bits]),
    );
    const digest = createHash('sha256').update(message).digest();
    const hints = bitsOfBytes(message).slice(256);
    expect(await outputs(hash, hints)).toEqual(bitsOfBytes(digest));
  });

  it('has the costs of bellperson for each kind of block', () => {
    const recorded = gadget('b'.repeat(1536), (cs, { bits }) => sha256(cs, bits));
    const blocks = recorded.program.templates.filter(({ name }) => name === 'sha256 block');
    expect(blocks.map(({ rows }) => rows)).toEqual([25_840, 26_192, 19_034]);
  });
});

it.each([2, 3, 4, 5, 8, 9, 10])('adds %i words modulo 2^32', async (count) => {
  const adder = gadget('b'.repeat(32 * (count - 1)), (cs, { bits }) => {
    const equalities = new PackedEqualities(cs);
    const words = Array.from({ length: count - 1 }, (_, i) => bits.slice(32 * i, 32 * (i + 1)));
    const sum = addMany(cs, equalities, [...words, constantWord(0xfedc_ba98)]);
    equalities.finish();
    return sum;
  });
  for (const hints of [sampleBits(`words ${count}`, 32 * (count - 1)), allOnes(32 * (count - 1))]) {
    const total = Array.from({ length: count - 1 }, (_, i) =>
      numberOf(hints.slice(32 * i, 32 * i + 32)),
    );
    const expected = total.reduce((x, y) => x + y, 0xfedc_ba98n) % 2n ** 32n;
    expect(numberOf(await outputs(adder, hints))).toBe(expected);
  }
});

it.each([2, 4, 8, 11])('hashes %i numbers as poseidon does', async (arity) => {
  const preimage = sampleScalars(`preimage ${arity}`, arity);
  for (const tag of [merkleTag(arity), ARBITRARY_TAG]) {
    const hash = gadget('#'.repeat(arity), (cs, { numbers }) => poseidonGadget(cs, numbers, tag));
    expect(await outputs(hash, preimage)).toEqual([poseidon(preimage, tag)]);
  }
});

it('hashes two nodes of the data tree', async () => {
  const node = gadget('##', (cs, { numbers }) => SHA256_NODE.hash(cs, numbers));
  const children = sampleScalars('children', 2);
  expect(await outputs(node, children)).toEqual([sha256Node(children)]);
});

it.each([0n, 1n, R - 1n, 2n ** 254n])('takes %i apart and packs it', async (value) => {
  const bits = gadget('#', (cs, { numbers: [x] }) => toBits(cs, x as Wire));
  expect(numberOf(await outputs(bits, [value]))).toBe(value);
  const low = gadget('#', (cs, { numbers: [x] }) => pack(cs, toBits(cs, x as Wire)));
  expect(await outputs(low, [value])).toEqual([value % 2n ** 254n]);
});

it('reverses bytes, the missing bit first in the last', () => {
  const bits: Bit[] = Array.from({ length: 15 }, (_, i) => i % 2 === 0);
  const reversed = reverseBytes(bits);
  expect(reversed).toEqual([...bits.slice(0, 8).reverse(), false, ...bits.slice(8).reverse()]);
});

it('picks', async () => {
  const picker = gadget('b##', (cs, { bits: [bit], numbers: [x, y] }) =>
    pick(cs, bit as Bit, x as Wire, y as Wire),
  );
  expect(await outputs(picker, [1n, 5n, 6n])).toEqual([5n]);
  expect(await outputs(picker, [0n, 5n, 6n])).toEqual([6n]);
});

it.each([2, 4, 8])('inserts at each of %i places', async (arity) => {
  const width = Math.log2(arity);
  const inserter = gadget(
    `${'b'.repeat(width)}${'#'.repeat(arity)}`,
    (cs, { bits, numbers: [node, ...siblings] }) => insert(cs, node as Wire, siblings, bits),
  );
  const [node, ...siblings] = sampleScalars('nodes', arity) as [bigint, ...bigint[]];
  for (let place = 0; place < arity; place++) {
    const bits = Array.from({ length: width }, (_, i) => BigInt((place >> i) & 1));
    const expected = siblings.toSpliced(place, 0, node);
    expect(await outputs(inserter, [...bits, node, ...siblings])).toEqual(expected);
  }
});

it('selects each of 8', async () => {
  const selector = gadget(`bbb${'#'.repeat(8)}`, (cs, { bits, numbers }) =>
    select(cs, numbers, bits),
  );
  const numbers = sampleScalars('choices', 8);
  for (let index = 0; index < 8; index++) {
    const bits = [0, 1, 2].map((i) => BigInt((index >> i) & 1));
    expect(await outputs(selector, [...bits, ...numbers])).toEqual([numbers[index]]);
  }
});

function numberOf(bits: readonly bigint[]): bigint {
  return bits.reduce((sum, bit, i) => sum + (bit << BigInt(i)), 0n);
}

function allOnes(count: number): bigint[] {
  return new Array(count).fill(1n);
}
