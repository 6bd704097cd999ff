import type { FileSlice } from '../core/source.ts';
import type { CurveName, FrCanonicalLE, G1Bytes, G2Bytes } from '../math/curve.ts';
import type { PointForm } from '../math/points.ts';

/** Groth16 (eprint 2016/260) proof: A in G1, B in G2, C in G1. */
export interface Proof {
  readonly curve: CurveName;
  readonly a: G1Bytes;
  readonly b: G2Bytes;
  readonly c: G1Bytes;
}

/** What verification needs. `ic` has one point for the constant 1 and one for each public input. */
export interface VerifyingKey {
  readonly curve: CurveName;
  readonly alphaG1: G1Bytes;
  readonly betaG2: G2Bytes;
  readonly gammaG2: G2Bytes;
  readonly deltaG2: G2Bytes;
  readonly ic: readonly G1Bytes[];
}

/** The pair (r, s) that makes a proof zero-knowledge. Secret; drawn in `blinding.ts` only. */
export interface Blinding {
  readonly r: FrCanonicalLE;
  readonly s: FrCanonicalLE;
}

/** One of the five MSM base vectors: `count` points of 2 or 4 coordinates each, without gaps. */
export interface PointQuery {
  readonly slice: FileSlice;
  readonly count: number;
}

/**
 * Sparse rows of A and B, as a zkey's section 4 holds them: `count` records of u32 matrix (0 = A, 1
 * = B), u32 row, u32 wire, 32-byte value v·R² mod r (R = 2^256), all little-endian. The input rows
 * (row nConstraints + s: A has wire s with 1) are among them.
 */
export interface CoefficientRows {
  readonly slice: FileSlice;
  readonly count: number;
}

/**
 * A proving key: sizes, the verifying key, and where the queries lie in a file. Nothing large is in
 * memory. Wires are numbered inputs first (wire 0 = 1, then the public inputs), then auxiliary
 * variables.
 */
export interface ProvingKeySource {
  readonly curve: CurveName;
  readonly format: 'zkey' | 'bellman';
  readonly points: PointForm;
  /** Inputs including the constant 1: `verifyingKey.ic.length`. */
  readonly inputCount: number;
  readonly auxCount: number;
  /** The evaluation domain has 2^logN rows. */
  readonly logN: number;
  readonly verifyingKey: VerifyingKey;
  readonly betaG1: G1Bytes;
  readonly deltaG1: G1Bytes;
  /**
   * `monomial`: h_i = [τ^i·(τ^n − 1)/δ], n − 1 points (bellman).
   * `odd-lagrange`: h_i = [L_{2i+1}(τ)/δ] over the domain of 2n, n points (zkey).
   */
  readonly hBasis: 'monomial' | 'odd-lagrange';
  readonly h: PointQuery;
  /** One point for each auxiliary variable. */
  readonly l: PointQuery;
  /**
   * zkey: one point for each wire, infinity where the wire does not occur.
   * bellman: points of the wires that occur only, inputs first (a holds every input); the densities
   * come with the assignment.
   */
  readonly a: PointQuery;
  readonly bG1: PointQuery;
  readonly bG2: PointQuery;
  /** Rows of A and B; absent in bellman parameters, whose circuit supplies evaluations instead. */
  readonly rows?: CoefficientRows;
}
