import type { AssignedInput } from '../../src/backend/backend.ts';
import { curveOf } from '../../src/math/curve.ts';
import type { Term } from '../../src/r1cs/constraint-system.ts';
import { evaluateRow } from '../../src/r1cs/satisfaction.ts';
import { type Example, scalarBytes, witnessOf } from './system.ts';

/** What a circuit hands to a backend: the rows' values of A and B, input rows included, and the densities. */
export async function evaluated({ system, values }: Example): Promise<AssignedInput> {
  const { r } = curveOf(system.curve);
  const witness = witnessOf(values);
  const [a, b]: [bigint[], bigint[]] = [[], []];
  const [inA, inB] = [new Set<number>(), new Set<number>()];
  const note = (seen: Set<number>, terms: readonly Term[]): void => {
    for (const { wire, coefficient } of terms) if (coefficient !== 0n) seen.add(wire);
  };
  for await (const row of system.constraints()) {
    const value = await evaluateRow(row, witness, r);
    a.push(value.a);
    b.push(value.b);
    note(inA, row.a);
    note(inB, row.b);
  }
  for (const input of values.slice(0, system.inputCount)) {
    a.push(input);
    b.push(0n);
  }
  const density = (seen: ReadonlySet<number>, first: number, count: number): Uint8Array => {
    const bits = new Uint8Array(Math.ceil(count / 8));
    for (let i = 0; i < count; i++) {
      if (seen.has(first + i)) bits[i >> 3] = (bits[i >> 3] as number) | (1 << (i & 7));
    }
    return bits;
  };
  return {
    kind: 'evaluated',
    witness: { n: values.length, bytes: scalarBytes(values) },
    a: { n: a.length, bytes: scalarBytes(a) },
    b: { n: b.length, bytes: scalarBytes(b) },
    aAuxDensity: density(inA, system.inputCount, system.auxCount),
    bInputDensity: density(inB, 0, system.inputCount),
    bAuxDensity: density(inB, system.inputCount, system.auxCount),
  };
}
