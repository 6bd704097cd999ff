import { curveOf } from '../math/curve.ts';
import { Pacer } from '../math/pacer.ts';
import type { Constraint, ConstraintSystemSource, Term } from './constraint-system.ts';
import type { WitnessValues } from './witness-values.ts';

/** Index of the first constraint that does not hold; undefined where all of them do. */
export async function firstUnsatisfied(
  system: ConstraintSystemSource,
  witness: WitnessValues,
  signal: AbortSignal,
): Promise<number | undefined> {
  const { r } = curveOf(system.curve);
  const pacer = new Pacer(signal);
  let index = 0;
  for await (const constraint of system.constraints()) {
    const { a, b, c } = await evaluateRow(constraint, witness, r);
    if ((a * b - c) % r !== 0n) return index;
    index++;
    if (pacer.due) await pacer.pause();
  }
  return undefined;
}

/** <a, w>, <b, w> and <c, w>, each below r. */
export async function evaluateRow(
  { a, b, c }: Constraint,
  witness: WitnessValues,
  r: bigint,
): Promise<{ readonly a: bigint; readonly b: bigint; readonly c: bigint }> {
  return {
    a: await combine(a, witness, r),
    b: await combine(b, witness, r),
    c: await combine(c, witness, r),
  };
}

async function combine(terms: readonly Term[], witness: WitnessValues, r: bigint): Promise<bigint> {
  let sum = 0n;
  for (const { wire, coefficient } of terms) {
    const value = witness.at(wire);
    sum += coefficient * (typeof value === 'bigint' ? value : await value);
  }
  return sum % r;
}
