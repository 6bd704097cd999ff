import { createHash } from 'node:crypto';
import { readBigIntLE, writeBigIntLE } from '../../src/core/bytes.ts';
import { fromBytes } from '../../src/core/source.ts';
import { type CurveName, curveOf, type FrCanonicalLE } from '../../src/math/curve.ts';
import type { Constraint, ConstraintSystemSource, Term } from '../../src/r1cs/constraint-system.ts';
import { WitnessValues } from '../../src/r1cs/witness-values.ts';
import { scalars } from './scalars.ts';

/** A small constraint system in memory, and an assignment for it. */
export interface Example {
  readonly system: ConstraintSystemSource;
  /** The value of each wire. */
  readonly values: readonly bigint[];
}

export function systemOf(
  curve: CurveName,
  inputCount: number,
  auxCount: number,
  rows: readonly Constraint[],
): ConstraintSystemSource {
  return {
    ...{ curve, inputCount, auxCount, constraintCount: rows.length },
    async *constraints() {
      yield* rows;
    },
  };
}

export function scalarBytes(values: readonly bigint[]): Uint8Array {
  return Buffer.concat(values.map((value) => writeBigIntLE(value, 32)));
}

export function witnessOf(values: readonly bigint[]): WitnessValues {
  return new WitnessValues(fromBytes('witness', scalarBytes(values)), 0, values.length);
}

export function publicInputsOf({ system, values }: Example): FrCanonicalLE[] {
  return values
    .slice(1, system.inputCount)
    .map((value) => writeBigIntLE(value, 32) as FrCanonicalLE);
}

export interface ChainOptions {
  readonly curve: CurveName;
  readonly constraints: number;
  /** At most constraints + 1. */
  readonly publicInputs: number;
  /** Value of the first wire; 0 and 1 make all wires 0 and 1. */
  readonly first: bigint;
  /** Auxiliary variables that no row uses. */
  readonly unused?: number;
}

/**
 * Rows (k·w_i + (1 - k))·w_i = w_{i+1} with a k of each row's own, some of them 0 and 1, so that not every
 * wire occurs in A; the last occurs in C only, and 1 does not occur in B. The public inputs are w_1, w_2, ...
 */
export function chain(options: ChainOptions): Example {
  const { curve, constraints, publicInputs, first, unused = 0 } = options;
  const { r } = curveOf(curve);
  const values = [1n, first];
  const rows = scalars(curve, constraints).map((k, i): Constraint => {
    const wire = i + 1;
    const value = values[wire] as bigint;
    const constant = (1n - k + r) % r;
    values.push((((k * value + constant) % r) * value) % r);
    return {
      a: terms([0, constant], [wire, k]),
      b: terms([wire, 1n]),
      c: terms([wire + 1, 1n]),
    };
  });
  for (let i = 0; i < unused; i++) values.push(BigInt(i));
  const inputCount = publicInputs + 1;
  return { system: systemOf(curve, inputCount, values.length - inputCount, rows), values };
}

function terms(...pairs: readonly [wire: number, coefficient: bigint][]): Term[] {
  return pairs
    .filter(([, coefficient]) => coefficient !== 0n)
    .map(([wire, coefficient]) => ({ wire, coefficient }));
}

/** SHA-256 of a label, little-endian, below 2^254: how the known keys and proofs got their secrets. */
export function scalarOf(label: string): bigint {
  const bytes = createHash('sha256').update(label).digest();
  bytes[31] = (bytes[31] as number) & 0x3f;
  return readBigIntLE(bytes);
}

/**
 * The circuit of `test/golden/tiny.*`: eight bits of 0x55 packed into input 2; forty steps x² + (i + 7) from a
 * private x_0 to input 1. Aux 0 is x_0, 1 to 8 the bits, then x_1 to x_40.
 */
export function tiny(): Example {
  const { r } = curveOf('bls12-381');
  const aux = (index: number) => 3 + index;
  const x = (i: number) => (i === 0 ? aux(0) : aux(8 + i));
  const bits = [1n, 0n, 1n, 0n, 1n, 0n, 1n, 0n];
  const xs = [scalarOf('proofline test tiny x0')];
  const rows: Constraint[] = bits.map((_, i) => ({
    a: terms([0, 1n], [aux(1 + i), r - 1n]),
    b: terms([aux(1 + i), 1n]),
    c: [],
  }));
  for (let i = 0; i < 40; i++) {
    const value = xs[i] as bigint;
    xs.push((value * value + BigInt(i + 7)) % r);
    rows.push({
      a: terms([x(i), 1n]),
      b: terms([x(i), 1n]),
      c: terms([0, r - BigInt(i + 7)], [x(i + 1), 1n]),
    });
  }
  rows.push({ a: terms([x(40), 1n]), b: terms([0, 1n]), c: terms([1, 1n]) });
  rows.push({
    a: bits.map((_, i) => ({ wire: aux(1 + i), coefficient: 2n ** BigInt(i) })),
    b: terms([0, 1n]),
    c: terms([2, 1n]),
  });
  const [x0, ...rest] = xs as [bigint, ...bigint[]];
  const values = [1n, rest.at(-1) as bigint, 0x55n, x0, ...bits, ...rest];
  return { system: systemOf('bls12-381', 3, values.length - 3, rows), values };
}
