import type { PartitionInput } from '../../src/backend/backend.ts';
import { insert } from '../../src/circuits/gadgets/insertion.ts';
import { pack, publish, unpack, witness } from '../../src/circuits/gadgets/number.ts';
import { Pacer } from '../../src/math/pacer.ts';
import { readProgram } from '../../src/r1cs/program.ts';
import { systemOf } from '../../src/r1cs/program-system.ts';
import { assign } from '../../src/r1cs/program-witness.ts';
import { recordProgram } from '../../src/r1cs/recorder.ts';
import { type Example, scalarBytes } from '../support/system.ts';

/** A circuit as its program, and private inputs for it. */
export interface ProgramExample {
  readonly example: Example;
  readonly input: PartitionInput;
  /** Private inputs of which the last is too large. */
  readonly wrong: PartitionInput;
}

const BITS = 6;

/** Some bits, small numbers and full-size ones, in two templates. */
export async function programExample(): Promise<ProgramExample> {
  const program = recordProgram('conformance', (cs) => {
    const [x, y] = [witness(cs), witness(cs)];
    const indices = [0, 1].map((part) =>
      cs.scope(`part ${part}`, () =>
        cs.template('index', [witness(cs)], (inner, [index]) => unpack(inner, index, BITS)),
      ),
    );
    const [first, second] = indices as [(typeof indices)[0], (typeof indices)[0]];
    const pair = insert(cs, x, [y], first);
    for (const each of pair) publish(cs, each);
    pack(cs, [...first, ...second]);
  });
  const read = readProgram(program);
  const inputsWith = (last: bigint) => scalarBytes([2n ** 200n + 9n, 200n, 33n, last]);
  const privateInputs = inputsWith(54n);
  const pacer = new Pacer(new AbortController().signal);
  const { inputs, aux } = await assign(read, privateInputs, pacer);
  const values = [inputs, aux].flatMap((vector) =>
    Array.from({ length: vector.length }, (_, i) => BigInt(vector.get(i))),
  );
  return {
    example: { system: systemOf(read), values },
    input: { kind: 'program', program, privateInputs },
    wrong: { kind: 'program', program, privateInputs: inputsWith(2n ** 64n) },
  };
}
