import type { AssignedInput, ProgramInput, ScalarVector } from '../../src/backend/backend.ts';
import { writeBigIntLE } from '../../src/core/bytes.ts';
import { formatError, ProverError } from '../../src/core/errors.ts';
import type { ProvingKeySource } from '../../src/groth16/types.ts';
import type { Pacer } from '../../src/math/pacer.ts';
import { readProgram } from '../../src/r1cs/program.ts';
import { countsOf, densitiesOf } from '../../src/r1cs/program-shape.ts';
import { canonical, type Scalar } from '../../src/r1cs/program-values.ts';
import { assign, evaluate, firstFailed, nameOfConstraint } from '../../src/r1cs/program-witness.ts';

/** All values of a circuit. @throws ERR_FORMAT, ERR_WITNESS_UNSATISFIED */
export async function synthesize(
  key: ProvingKeySource,
  { program: bytes, privateInputs }: ProgramInput,
  pacer: Pacer,
): Promise<AssignedInput> {
  const program = readProgram(bytes);
  const { inputs, aux, rows } = countsOf(program);
  const fits = key.inputCount === inputs && key.auxCount === aux && rows <= 2 ** key.logN;
  if (!fits) throw formatError('program', 'the circuit of the key', 'another');
  if (key.curve !== 'bls12-381') {
    throw formatError('key: curve', 'that of programs, bls12-381', 'another');
  }
  const values = await assign(program, privateInputs, pacer);
  const failed = await firstFailed(program, values, pacer);
  if (failed !== undefined) {
    const detail = `${nameOfConstraint(failed)} does not hold`;
    throw new ProverError('ERR_WITNESS_UNSATISFIED', { detail });
  }
  const [witness, a, b] = [new Scalars(inputs + aux), new Scalars(rows), new Scalars(rows)];
  for (let i = 0; i < inputs; i++) witness.push(values.inputs.get(i));
  for (let i = 0; i < aux; i++) witness.push(values.aux.get(i));
  const push = (left: Scalar, right: Scalar) => {
    a.push(left);
    b.push(right);
  };
  await evaluate(program, values, push, pacer);
  for (let i = 0; i < inputs; i++) push(values.inputs.get(i), 0);
  const density = await densitiesOf(program, pacer);
  return {
    kind: 'evaluated',
    witness: witness.vector,
    a: a.vector,
    b: b.vector,
    aAuxDensity: bitsOf(density.a.aux, aux),
    bInputDensity: bitsOf(density.b.inputs, inputs),
    bAuxDensity: bitsOf(density.b.aux, aux),
  };
}

/** Scalars of 32 bytes, canonical little-endian, one after another. */
class Scalars {
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(n: number) {
    this.#bytes = new Uint8Array(32 * n);
  }

  push(value: Scalar): void {
    if (value === 1) this.#bytes[this.#at] = 1;
    else if (value !== 0) this.#bytes.set(writeBigIntLE(canonical(value), 32), this.#at);
    this.#at += 32;
  }

  get vector(): ScalarVector {
    return { n: this.#bytes.length / 32, bytes: this.#bytes };
  }
}

/** The first `n` bits. */
function bitsOf(words: Uint32Array, n: number): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, Math.ceil(n / 8));
}
