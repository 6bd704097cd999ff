import type { Pacer } from '../math/pacer.ts';
import type { Program } from './program.ts';
import { AUX, instancesOf } from './program-instances.ts';
import { type Leaf, TERM_INDEX_MAX } from './template.ts';

/** Counts of a circuit, as setup and prover know them. */
export interface ProgramCounts {
  /** Public inputs and the constant 1. */
  readonly inputs: number;
  readonly aux: number;
  readonly constraints: number;
  /** Constraints and one row for each input. */
  readonly rows: number;
  /** Smallest power of two that holds the rows. */
  readonly domain: number;
  /** Non-zero coefficients of A, B and C, those of the input rows included. */
  readonly nonZero: readonly [number, number, number];
}

/** Which variables have a non-zero coefficient in a matrix: the bit of each, 32 a word. */
export interface Density {
  readonly inputs: Uint32Array;
  readonly aux: Uint32Array;
}

export function countsOf(program: Program): ProgramCounts {
  const { publics, aux, rows: constraints } = program.root;
  const inputs = 1 + publics;
  const rows = constraints + inputs;
  const uses = usesOf(program);
  const nonZero: [number, number, number] = [inputs, 0, 0];
  for (const [i, template] of program.templates.entries()) {
    if (template.kind !== 'leaf') continue;
    for (const [at, lc] of template.lcsOfRows.entries()) {
      nonZero[at % 3] = (nonZero[at % 3] as number) + (uses[i] as number) * termsOf(template, lc);
    }
  }
  return { inputs, aux, constraints, rows, domain: 2 ** Math.ceil(Math.log2(rows)), nonZero };
}

/** How often each template occurs. Children stand before their composite. */
function usesOf({ templates }: Program): number[] {
  const uses = templates.map(() => 0);
  uses[templates.length - 1] = 1;
  for (let i = templates.length - 1; i >= 0; i--) {
    const template = templates[i];
    if (template?.kind !== 'composite') continue;
    for (const child of template.children) {
      uses[child.template] = (uses[child.template] as number) + (uses[i] as number);
    }
  }
  return uses;
}

function termsOf({ lcEnds }: Leaf, lc: number): number {
  return (lcEnds[lc] as number) - (lc === 0 ? 0 : (lcEnds[lc - 1] as number));
}

/**
 * What decides which points a key's `a` and `b` queries keep (bellperson leaves the others out).
 * Input rows are not counted: with them, all inputs are in A.
 */
export async function densitiesOf(
  program: Program,
  pacer: Pacer,
): Promise<{ readonly a: Density; readonly b: Density }> {
  const { publics, aux } = program.root;
  const empty = () => ({ inputs: bitmap(1 + publics), aux: bitmap(aux) });
  const densities = [empty(), empty()] as const;
  const wires = new Map<Leaf, readonly Uint32Array[]>();
  for (const { leaf, codes } of instancesOf(program)) {
    const dense = wires.get(leaf) ?? [wiresOf(leaf, 0), wiresOf(leaf, 1)];
    wires.set(leaf, dense);
    for (const [matrix, density] of densities.entries()) {
      for (const wire of dense[matrix] as Uint32Array) mark(density, codes[wire] as number);
    }
    if (pacer.due) await pacer.pause();
  }
  const [a, b] = densities;
  return { a, b };
}

export function countBits(words: Uint32Array): number {
  let count = 0;
  for (let word of words) for (; word !== 0; word &= word - 1) count++;
  return count;
}

/** Local wires of one matrix of a leaf. */
function wiresOf(leaf: Leaf, matrix: 0 | 1): Uint32Array {
  const wires = new Set<number>();
  for (let at: number = matrix; at < leaf.lcsOfRows.length; at += 3) {
    const lc = leaf.lcsOfRows[at] as number;
    const end = leaf.lcEnds[lc] as number;
    for (let i = end - termsOf(leaf, lc); i < end; i++) {
      wires.add((leaf.terms[i] as number) & TERM_INDEX_MAX);
    }
  }
  return Uint32Array.from(wires);
}

function bitmap(bits: number): Uint32Array {
  return new Uint32Array(Math.ceil(bits / 32));
}

function mark(density: Density, code: number): void {
  const words = code >= AUX ? density.aux : density.inputs;
  const index = code >= AUX ? code - AUX : code;
  const at = index >>> 5;
  words[at] = (words[at] as number) | (1 << (index & 31));
}
