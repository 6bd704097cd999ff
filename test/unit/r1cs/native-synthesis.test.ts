import { readFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { nativeSynthesis } from '../../../backends/cpu/synthesis.ts';
import { writeBigIntLE } from '../../../src/core/bytes.ts';
import { Pacer } from '../../../src/math/pacer.ts';
import { CompactVector } from '../../../src/r1cs/compact-vector.ts';
import { R } from '../../../src/r1cs/linear-combination.ts';
import { type Program, readProgram } from '../../../src/r1cs/program.ts';
import { densitiesOf } from '../../../src/r1cs/program-shape.ts';
import { canonical, type Scalar } from '../../../src/r1cs/program-values.ts';
import { assign, evaluate, firstFailed } from '../../../src/r1cs/program-witness.ts';
import { golden } from '../../support/shared.ts';
import { SMALL_INPUTS, smallProgram } from '../../support/small-program.ts';

const { signal } = new AbortController();
const synthesize = nativeSynthesis(2);
const HINTS = SMALL_INPUTS.length / 32;

/** Checksums of the values, by the slow interpreter: 32 bytes each. */
async function slowly(program: Program, inputs: Uint8Array) {
  const pacer = new Pacer(signal);
  const assignment = await assign(program, inputs, pacer);
  const publics = Array.from({ length: assignment.inputs.length }, (_, i) =>
    assignment.inputs.get(i),
  );
  const aux = Array.from({ length: assignment.aux.length }, (_, i) => assignment.aux.get(i));
  const [a, b, c]: [Scalar[], Scalar[], Scalar[]] = [[], [], []];
  const push = (left: Scalar, right: Scalar, product: Scalar) => {
    a.push(left);
    b.push(right);
    c.push(product);
  };
  await evaluate(program, assignment, push, pacer);
  for (const input of publics) push(input, 0, 0);
  const { a: inA, b: inB } = await densitiesOf(program, pacer);
  return {
    values: [[...publics, ...aux], a, b, c].map((vector) =>
      crc32(Buffer.concat(vector.map((value) => writeBigIntLE(canonical(value), 32)))),
    ),
    densities: [
      bitsOf(inA.aux, aux.length),
      bitsOf(inB.inputs, publics.length),
      bitsOf(inB.aux, aux.length),
    ],
    failed: await firstFailed(program, assignment, pacer),
  };
}

async function quickly(bytes: Uint8Array, inputs: Uint8Array) {
  const made = await synthesize?.(bytes, inputs, { c: true, signal });
  if (made === undefined) throw new Error('expected native code');
  const { witness, a, b, c } = made;
  return {
    values: [witness, a, b, c].map((each) => {
      const vector = new CompactVector(each as Uint8Array);
      const all = new Uint8Array(32 * vector.length);
      vector.expand(0, all);
      return crc32(all);
    }),
    densities: [made.aAuxDensity, made.bInputDensity, made.bAuxDensity].map((bits) =>
      Uint8Array.from(bits),
    ),
    failed: made.failed,
  };
}

function bitsOf(words: Uint32Array, count: number): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, Math.ceil(count / 8));
}

function withInput(index: number, value: bigint): Uint8Array {
  const inputs = SMALL_INPUTS.slice();
  inputs.set(writeBigIntLE(value, 32), 32 * index);
  return inputs;
}

describe('the small program', () => {
  it('is the golden one, which native tests read too', async () => {
    const sums = readFileSync(golden('program/small.crc32'), 'utf8').trim().split('\n');
    const bytes = smallProgram();
    expect(bytes).toEqual(new Uint8Array(readFileSync(golden('program/small.plcp'))));
    expect(SMALL_INPUTS).toEqual(readFileSync(golden('program/small.inputs')));
    const { values, failed } = await slowly(readProgram(bytes), SMALL_INPUTS);
    const lines = [crc32(bytes), ...values].map((sum, i) => {
      return `${['program', 'witness', 'a', 'b', 'c'][i]} ${sum.toString(16).padStart(8, '0')}`;
    });
    expect(sums).toEqual(lines);
    expect(failed).toBe(undefined);
  });
});

describe.skipIf(synthesize === undefined)('native synthesis (where it is built)', () => {
  const bytes = smallProgram();
  const program = readProgram(bytes);

  it('comes to what the interpreter of TypeScript does', async () => {
    expect(await quickly(bytes, SMALL_INPUTS)).toEqual(await slowly(program, SMALL_INPUTS));
  });

  it.each([2n, 127n, 128n, 2n ** 64n, R - 1n, R - 127n, R - 128n])(
    'so it does where a private input is %d, and names the same first constraint',
    async (value) => {
      for (let index = 0; index < HINTS; index++) {
        const inputs = withInput(index, value);
        expect(await quickly(bytes, inputs), `input ${index}`).toEqual(
          await slowly(program, inputs),
        );
      }
    },
  );

  it('reads any part of a compact vector', async () => {
    const made = await synthesize?.(bytes, SMALL_INPUTS, { c: false, signal });
    const vector = new CompactVector(made?.witness as Uint8Array);
    const all = new Uint8Array(32 * vector.length);
    vector.expand(0, all);
    for (let first = 0; first < vector.length; first += 61) {
      const part = new Uint8Array(32 * Math.min(37, vector.length - first));
      vector.expand(first, part);
      expect(part).toEqual(all.subarray(32 * first, 32 * first + part.length));
    }
  });

  it('refuses private inputs of another number or size, and a damaged program', async () => {
    const refuses = async (program: Uint8Array, inputs: Uint8Array, message: string) => {
      await expect(synthesize?.(program, inputs, { c: false, signal })).rejects.toThrow(message);
    };
    const bits = SMALL_INPUTS.length;
    await refuses(bytes, SMALL_INPUTS.slice(32), `private inputs: expected ${bits} bytes`);
    await refuses(bytes, withInput(3, R), 'private input 3: expected a number below r');
    await refuses(bytes.slice(0, 100), SMALL_INPUTS, 'program: expected a program (PLCP)');
    await refuses(bytes.slice(0, -4), SMALL_INPUTS, `program: expected ${bytes.length} bytes`);
    const damaged = bytes.with(bytes.length - 1, 1);
    await refuses(damaged, SMALL_INPUTS, 'program: expected bytes with its checksum');
  });
});
