import { choose, majority, xor } from '../../src/circuits/gadgets/boolean.ts';
import { insert } from '../../src/circuits/gadgets/insertion.ts';
import {
  add,
  multiply,
  pack,
  publish,
  publishBits,
  toBits,
  witness,
  witnessBit,
} from '../../src/circuits/gadgets/number.ts';
import { PackedEqualities } from '../../src/circuits/gadgets/packed-equalities.ts';
import { poseidon } from '../../src/circuits/gadgets/poseidon.ts';
import { addMany, constantWord } from '../../src/circuits/gadgets/uint32.ts';
import { type Recorder, recordProgram } from '../../src/r1cs/recorder.ts';
import { not } from '../../src/r1cs/recorder-signals.ts';
import { scalarBytes } from './system.ts';

/** A circuit with every operation, in templates inside of templates, of a few hundred rows. */
export function smallProgram(): Uint8Array {
  return recordProgram('small', (cs) => {
    const x = witness(cs);
    publish(cs, x);
    const bits = cs.scope('bits of x', () => toBits(cs, x));
    for (let i = 0; i < 2; i++) {
      cs.scope(`part ${i}`, () =>
        cs.template('part', [x, bits.slice(0, 64)], (inner, [own, ownBits]) => {
          openPart(inner, own, ownBits);
          return [];
        }),
      );
    }
  });
}

type PartInputs = Parameters<typeof add>;
type Bits = ReturnType<typeof toBits>;

function openPart(cs: Recorder, x: PartInputs[1], bits: Bits): void {
  const y = witness(cs);
  const place = [witnessBit(cs), witnessBit(cs)];
  const four = insert(cs, x, [y, add(cs, x, y), multiply(cs, x, y)], place);
  const hash = cs.scope('hash', () => poseidon(cs, four.slice(0, 2)));
  cs.scope('words', () => {
    const words = [bits.slice(0, 32), bits.slice(32), constantWord(0x9e3779b9)];
    const [first, second] = words as [Bits, Bits];
    const equalities = new PackedEqualities(cs);
    const sum = addMany(cs, equalities, words);
    equalities.finish();
    const mixed = sum.map((bit, i) => {
      const [a, b] = [first[i] as Bits[number], second[i] as Bits[number]];
      return xor(cs, majority(cs, choose(cs, bit, a, not(b)), a, b), bit);
    });
    publishBits(cs, mixed);
    pack(cs, sum);
  });
  publish(cs, hash);
}

/** Private inputs that satisfy it. */
export const SMALL_INPUTS = scalarBytes([
  0x1234_5678_9abc_def0n << 190n,
  ...[3n, 1n, 0n],
  ...[2n ** 200n + 5n, 0n, 1n],
]);
