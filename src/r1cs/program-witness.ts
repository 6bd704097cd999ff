import { readBigIntLE } from '../core/bytes.ts';
import { formatError } from '../core/errors.ts';
import type { Pacer } from '../math/pacer.ts';
import { R } from './linear-combination.ts';
import type { Program } from './program.ts';
import { Evaluator, holds } from './program-evaluator.ts';
import { AUX, type Instance, instancesOf } from './program-instances.ts';
import { Assignment, type Scalar } from './program-values.ts';
import { type Leaf, TERM_INDEX_MAX } from './template.ts';

/** Of a private input: canonical, little-endian. */
export const HINT_BYTES = 32;

/** Told the share of the work that is done, 0 to 1. */
export type Progress = (share: number) => void;

/**
 * The values of all variables.
 * @param hints private inputs in the order of synthesis, 32 bytes each, canonical little-endian
 * @throws ERR_FORMAT for another number of them, or one that is not below r
 */
export async function assign(
  program: Program,
  hints: Uint8Array,
  pacer: Pacer,
  progress: Progress = () => {},
): Promise<Assignment> {
  const { root } = program;
  const expected = root.hints * HINT_BYTES;
  if (hints.length !== expected) {
    throw formatError('private inputs', `${expected} bytes`, hints.length);
  }
  const assignment = new Assignment(1 + root.publics, root.aux);
  const evaluator = new Evaluator(program);
  const values: Scalar[] = [1];
  for (const instance of instancesOf(program)) {
    const { leaf, codes, auxBase, publicBase, hintBase } = instance;
    for (let wire = 1; wire <= leaf.bound; wire++) {
      values[wire] = assignment.get(codes[wire] as number);
    }
    evaluator.computeAux(leaf, values, (index) => hintAt(hints, hintBase + index));
    const first = 1 + leaf.bound + leaf.publics;
    for (let i = 0; i < leaf.aux; i++) {
      assignment.aux.set(auxBase + i, values[first + i] as Scalar);
    }
    for (const [i, lc] of leaf.lcsOfPublics.entries()) {
      assignment.inputs.set(publicBase + i, evaluator.value(leaf, lc, values));
    }
    progress(instance.rowBase / root.rows);
    if (pacer.due) await pacer.pause();
  }
  return assignment;
}

function hintAt(hints: Uint8Array, index: number): bigint {
  const value = readBigIntLE(hints.subarray(index * HINT_BYTES, (index + 1) * HINT_BYTES));
  if (value >= R) throw formatError(`private input ${index}`, 'a number below r', 'a larger one');
  return value;
}

/** <a, w>, <b, w> and <c, w> of one constraint. A number stands for itself mod r. */
export type RowVisitor = (a: Scalar, b: Scalar, c: Scalar) => void;

/** Every constraint in order; input rows are not among them. */
export async function evaluate(
  program: Program,
  assignment: Assignment,
  visit: RowVisitor,
  pacer: Pacer,
  progress: Progress = () => {},
): Promise<void> {
  const evaluator = new Evaluator(program);
  for (const instance of instancesOf(program)) {
    evaluateInstance(evaluator, instance, valuesOf(instance, assignment), visit);
    progress(instance.rowBase / program.root.rows);
    if (pacer.due) await pacer.pause();
  }
}

/** A constraint that does not hold, and where in the circuit it stands. */
export interface FailedConstraint {
  readonly index: number;
  /** From the outermost part inwards, for example `challenge 3`, `layer 7`, `sha256 block 12`. */
  readonly path: readonly string[];
  readonly template: string;
  /** Row within the instance of the template. */
  readonly row: number;
  /** The last aux variable of the row, which it was to constrain; none where it has none. */
  readonly aux: number | undefined;
}

/** `constraint 1234567 (challenge 3, layer 7, sha256 block 12)` */
export function nameOfConstraint({ index, path }: FailedConstraint): string {
  return `constraint ${index}${path.length > 0 ? ` (${path.join(', ')})` : ''}`;
}

/** The first constraint that does not hold; undefined where all do. */
export async function firstFailed(
  program: Program,
  assignment: Assignment,
  pacer: Pacer,
): Promise<FailedConstraint | undefined> {
  const evaluator = new Evaluator(program);
  for (const instance of instancesOf(program)) {
    let row = 0;
    let failed: number | undefined;
    evaluateInstance(evaluator, instance, valuesOf(instance, assignment), (a, b, c) => {
      if (failed === undefined && !holds(a, b, c)) failed = row;
      row++;
    });
    if (failed !== undefined) return describe(program, instance, failed);
    if (pacer.due) await pacer.pause();
  }
  return undefined;
}

function evaluateInstance(
  evaluator: Evaluator,
  { leaf }: Instance,
  values: readonly Scalar[],
  visit: RowVisitor,
): void {
  const { lcsOfRows } = leaf;
  for (let at = 0; at < lcsOfRows.length; at += 3) {
    visit(
      evaluator.combine(leaf, lcsOfRows[at] as number, values),
      evaluator.combine(leaf, lcsOfRows[at + 1] as number, values),
      evaluator.combine(leaf, lcsOfRows[at + 2] as number, values),
    );
  }
}

function valuesOf({ codes }: Instance, assignment: Assignment): Scalar[] {
  const values = new Array<Scalar>(codes.length);
  for (let wire = 0; wire < codes.length; wire++) {
    values[wire] = assignment.get(codes[wire] as number);
  }
  return values;
}

function describe(
  { labels }: Program,
  { leaf, codes, rowBase, path }: Instance,
  row: number,
): FailedConstraint {
  const code = Math.max(...wiresOfRow(leaf, row).map((wire) => codes[wire] as number));
  const part = labels[labelOfRow(leaf, row)] as string;
  return {
    index: rowBase + row,
    path: part === '' ? path() : [...path(), part],
    template: leaf.name,
    row,
    aux: code >= AUX ? code - AUX : undefined,
  };
}

function wiresOfRow({ lcsOfRows, lcEnds, terms }: Leaf, row: number): number[] {
  return Array.from(lcsOfRows.subarray(3 * row, 3 * row + 3)).flatMap((lc) =>
    Array.from(
      terms.subarray(lc === 0 ? 0 : lcEnds[lc - 1], lcEnds[lc]),
      (term) => term & TERM_INDEX_MAX,
    ),
  );
}

function labelOfRow({ marks }: Leaf, row: number): number {
  let label = 0;
  for (let i = 0; i < marks.length && (marks[i] as number) <= row; i += 2) {
    label = marks[i + 1] as number;
  }
  return label;
}
