import type { Constraint, ConstraintSystemSource, Term } from './constraint-system.ts';
import type { Program } from './program.ts';
import { AUX, instancesOf } from './program-instances.ts';
import { type Leaf, TERM_INDEX_MAX } from './template.ts';

/** The circuit of a program, row by row, for whoever takes any constraint system. */
export function systemOf(program: Program): ConstraintSystemSource {
  const { publics, aux, rows } = program.root;
  return {
    curve: 'bls12-381',
    inputCount: 1 + publics,
    auxCount: aux,
    constraintCount: rows,
    async *constraints() {
      yield* constraintsOf(program, 1 + publics);
    },
  };
}

function* constraintsOf(program: Program, inputCount: number): Generator<Constraint> {
  const { coefficients } = program;
  const wireOf = (code: number) => (code >= AUX ? inputCount + code - AUX : code);
  for (const { leaf, codes } of instancesOf(program)) {
    const { lcsOfRows } = leaf;
    const combination = (at: number): Term[] =>
      Array.from(termsOf(leaf, lcsOfRows[at] as number), (term) => ({
        wire: wireOf(codes[term & TERM_INDEX_MAX] as number),
        coefficient: coefficients[term >>> 16] as bigint,
      }));
    for (let at = 0; at < lcsOfRows.length; at += 3) {
      yield { a: combination(at), b: combination(at + 1), c: combination(at + 2) };
    }
  }
}

function termsOf({ lcEnds, terms }: Leaf, lc: number): Uint32Array {
  return terms.subarray(lc === 0 ? 0 : lcEnds[lc - 1], lcEnds[lc]);
}
