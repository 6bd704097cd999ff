import { createHash } from 'node:crypto';
import { readBigIntLE } from '../../../src/core/bytes.ts';
import { Pacer } from '../../../src/math/pacer.ts';
import type { Wire } from '../../../src/r1cs/linear-combination.ts';
import { R } from '../../../src/r1cs/linear-combination.ts';
import { type Program, readProgram } from '../../../src/r1cs/program.ts';
import { AUX } from '../../../src/r1cs/program-instances.ts';
import { rowBytes } from '../../../src/r1cs/program-rows.ts';
import type { Assignment } from '../../../src/r1cs/program-values.ts';
import { assign } from '../../../src/r1cs/program-witness.ts';
import { type Recorder, recordProgram } from '../../../src/r1cs/recorder.ts';
import type { Bit } from '../../../src/r1cs/recorder-signals.ts';
import { scalarBytes } from '../../support/system.ts';

const TERM_BYTES = 36;

export function quietPacer(): Pacer {
  return new Pacer(new AbortController().signal);
}

/** What a gadget returns. */
export type Result = Wire | Bit | readonly (Wire | Bit)[];

/** A gadget as a circuit of its own. */
export interface Recorded {
  readonly program: Program;
  /** What the gadget returned. */
  readonly outputs: readonly (Wire | Bit)[];
}

export function record(body: (cs: Recorder) => Result): Recorded {
  let outputs: readonly (Wire | Bit)[] = [];
  const bytes = recordProgram('test', (cs) => {
    outputs = [body(cs)].flat() as (Wire | Bit)[];
  });
  return { program: readProgram(bytes), outputs };
}

/** Assigned by private inputs, and what it returned then. */
export async function run({ program, outputs }: Recorded, hints: readonly bigint[]) {
  const assignment = await assign(program, scalarBytes(hints), quietPacer());
  const toValue = (output: Wire | Bit): bigint => {
    if (typeof output === 'boolean') return output ? 1n : 0n;
    const { wire, negated } = 'wire' in output ? output : { wire: output, negated: false };
    const value = BigInt(assignment.aux.get(wire.index));
    return negated ? 1n - value : value;
  };
  return { assignment, outputs: outputs.map(toValue) };
}

type Terms = readonly (readonly [code: number, coefficient: bigint])[];
export type Row = readonly [Terms, Terms, Terms];

/** The rows of a program, read back from their bytes; input rows are not among them. */
export async function rowsOf(program: Program): Promise<Row[]> {
  const parts: Uint8Array[] = [];
  for await (const part of rowBytes(program, quietPacer())) parts.push(part.slice());
  const bytes = Buffer.concat(parts);
  let at = 0;
  const readTerms = (): Terms => {
    const count = bytes.readUInt32LE(at);
    const start = at + 4;
    at = start + TERM_BYTES * count;
    return Array.from({ length: count }, (_, i) => {
      const term = bytes.subarray(start + TERM_BYTES * i, start + TERM_BYTES * (i + 1));
      return [term.readUInt32LE(), readBigIntLE(term.subarray(4))];
    });
  };
  return Array.from({ length: program.root.rows }, () => [readTerms(), readTerms(), readTerms()]);
}

export function rowHolds([a, b, c]: Row, assignment: Assignment): boolean {
  const value = (terms: Terms) =>
    terms.reduce((sum, [code, factor]) => sum + factor * BigInt(assignment.get(code)), 0n);
  return (value(a) * value(b) - value(c)) % R === 0n;
}

/**
 * The variables that can take a wrong value, all others kept, without a row failing that held before.
 * A bit is tried as the other bit and as no bit, a number as the next one.
 */
export async function freeVariables(program: Program, assignment: Assignment): Promise<number[]> {
  const rowsWith = new Map<number, Row[]>();
  for (const row of await rowsOf(program)) {
    if (!rowHolds(row, assignment)) continue;
    for (const code of new Set(row.flat().map(([each]) => each))) {
      const rows = rowsWith.get(code) ?? [];
      rows.push(row);
      rowsWith.set(code, rows);
    }
  }
  const { inputs, aux } = assignment;
  const isFree = (code: number): boolean => {
    const [vector, index] = code >= AUX ? [aux, code - AUX] : [inputs, code];
    const right = BigInt(vector.get(index));
    const wrong = right <= 1n ? [1n - right, right + 2n] : [(right + 1n) % R];
    const accepted = wrong.some((value) => {
      vector.set(index, value);
      return (rowsWith.get(code) ?? []).every((row) => rowHolds(row, assignment));
    });
    vector.set(index, right);
    return accepted;
  };
  return [
    ...Array.from({ length: inputs.length - 1 }, (_, i) => i + 1),
    ...Array.from({ length: aux.length }, (_, i) => AUX + i),
  ].filter(isFree);
}

/** Deterministic bits and numbers for private inputs. */
export function sampleBits(seed: string, count: number): bigint[] {
  return Array.from({ length: count }, (_, i) => BigInt(digest(`${seed}/${i}`)[0] as number) & 1n);
}

export function sampleScalars(seed: string, count: number): bigint[] {
  return Array.from({ length: count }, (_, i) => readBigIntLE(digest(`${seed}/${i}`)) >> 2n);
}

function digest(text: string): Uint8Array {
  return createHash('sha256').update(text).digest();
}
