import type { CurveName } from '../math/curve.ts';

/** One coefficient of a linear combination: `coefficient` is below r and not zero. */
export interface Term {
  readonly wire: number;
  readonly coefficient: bigint;
}

/** <a, w> · <b, w> = <c, w>. A wire stands at most once in each of the three. */
export interface Constraint {
  readonly a: readonly Term[];
  readonly b: readonly Term[];
  readonly c: readonly Term[];
}

/**
 * A rank-1 constraint system that may be too large to hold. Wires are numbered inputs first (wire 0
 * = 1, then the public inputs), then auxiliary variables.
 */
export interface ConstraintSystemSource {
  readonly curve: CurveName;
  /** Inputs including the constant 1. */
  readonly inputCount: number;
  readonly auxCount: number;
  readonly constraintCount: number;
  /** Exactly `constraintCount` constraints, in order; each call starts anew. */
  constraints(): AsyncIterable<Constraint>;
}
