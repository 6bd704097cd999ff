import type { AssignedInput, Density, ScalarVector } from '../../src/backend/backend.ts';
import { readBigIntLE } from '../../src/core/bytes.ts';
import { formatError } from '../../src/core/errors.ts';
import { fromBytes, openFile } from '../../src/core/source.ts';
import { curveOf } from '../../src/math/curve.ts';
import { STEPS_A_LOOK } from '../../src/math/domain.ts';
import type { Pacer } from '../../src/math/pacer.ts';
import type { ReferenceKey } from './key.ts';

/** One partition as the MSMs take it: a scalar for each point of a query. */
export interface Assignment {
  readonly aux: readonly bigint[];
  readonly a: readonly bigint[];
  readonly b: readonly bigint[];
}

/** <A_i, w> and <B_i, w> for each row of the domain, 0 below the last row. */
export interface Evaluations {
  readonly a: bigint[];
  readonly b: bigint[];
}

const SCALAR_BYTES = 32;

/** @throws ERR_FORMAT for a wrong number of values or one that is not below r */
export async function readScalars(
  key: ReferenceKey,
  subject: string,
  vector: ScalarVector,
  pacer: Pacer,
): Promise<bigint[]> {
  const { r } = curveOf(key.source.curve);
  const { path, offset } = 'slice' in vector ? vector.slice : { path: '', offset: 0 };
  await using source = 'slice' in vector ? await openFile(path) : fromBytes(subject, vector.bytes);
  const scalars: bigint[] = [];
  for (let first = 0; first < vector.n; first += STEPS_A_LOOK) {
    const count = Math.min(STEPS_A_LOOK, vector.n - first);
    const bytes = await source.read(offset + first * SCALAR_BYTES, count * SCALAR_BYTES);
    for (let at = 0; at < bytes.length; at += SCALAR_BYTES) {
      const scalar = readBigIntLE(bytes.subarray(at, at + SCALAR_BYTES));
      if (scalar >= r) {
        throw formatError(`${subject}[${scalars.length}]`, 'a value below r', 'a larger one');
      }
      scalars.push(scalar);
    }
    if (pacer.due) await pacer.pause();
  }
  return scalars;
}

export async function readWitness(
  key: ReferenceKey,
  vector: ScalarVector,
  pacer: Pacer,
): Promise<bigint[]> {
  const wires = key.source.inputCount + key.source.auxCount;
  if (vector.n !== wires) throw formatError('witness', `${wires} values`, vector.n);
  return readScalars(key, 'witness', vector, pacer);
}

/** A·w and B·w: from the key's own rows, or as the circuit gave them. */
export async function evaluateRows(
  key: ReferenceKey,
  input: AssignedInput,
  witness: readonly bigint[],
  pacer: Pacer,
): Promise<Evaluations> {
  const { r } = curveOf(key.source.curve);
  const rows = 2 ** key.source.logN;
  if (input.kind === 'evaluated') {
    const [a, b] = [input.a, input.b];
    if (a.n !== b.n || a.n > rows) throw formatError('row values', `up to ${rows} of a and b`, a.n);
    const padding = new Array<bigint>(rows - a.n).fill(0n);
    return {
      a: [...(await readScalars(key, 'a', a, pacer)), ...padding],
      b: [...(await readScalars(key, 'b', b, pacer)), ...padding],
    };
  }
  if (key.source.rows === undefined) throw notEvaluated();
  const sums = { A: new Array<bigint>(rows).fill(0n), B: new Array<bigint>(rows).fill(0n) };
  let steps = 0;
  for (const { matrix, row, wire, value } of key.coefficients) {
    const sum = sums[matrix];
    sum[row] = ((sum[row] as bigint) + value * (witness[wire] as bigint)) % r;
    if (steps++ % STEPS_A_LOOK === 0 && pacer.due) await pacer.pause();
  }
  return { a: sums.A, b: sums.B };
}

/** A zkey has a point for each wire, bellman parameters for each wire that occurs. */
export function assign(
  key: ReferenceKey,
  input: AssignedInput,
  witness: readonly bigint[],
): Assignment {
  const { format, inputCount } = key.source;
  const inputs = witness.slice(0, inputCount);
  const aux = witness.slice(inputCount);
  if (format === 'zkey') return { aux, a: witness, b: witness };
  if (input.kind !== 'evaluated') throw notEvaluated();
  const a = [...inputs, ...occurring(aux, input.aAuxDensity)];
  const b = [...occurring(inputs, input.bInputDensity), ...occurring(aux, input.bAuxDensity)];
  if (a.length !== key.a.length || b.length !== key.bG1.length) {
    throw formatError('densities', `${key.a.length} in a, ${key.bG1.length} in b`, 'other counts');
  }
  return { aux, a, b };
}

function notEvaluated() {
  return formatError('partition', 'row values and densities (the key has no rows)', 'a witness');
}

function occurring(values: readonly bigint[], density: Density): bigint[] {
  const bytes = Math.ceil(values.length / 8);
  if (density.length < bytes) throw formatError('density', `${bytes} bytes`, density.length);
  return values.filter((_, i) => (((density[i >> 3] as number) >> (i & 7)) & 1) === 1);
}
