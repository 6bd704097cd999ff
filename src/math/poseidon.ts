import { assert } from '../core/assert.ts';
import { curveOf } from './curve.ts';

/**
 * Poseidon (Grassi et al., eprint 2019/458) over the scalars of BLS12-381 with x^5, as Filecoin
 * uses it: neptune's standard strength, its domain tags, and its round constants moved through the
 * linear layers, so that a partial round adds one constant and multiplies by a sparse matrix
 * (the paper's appendix B). A state is a row vector.
 */
export type Matrix = readonly (readonly bigint[])[];

/** First column and the rest of the first row; elsewhere the unit matrix. */
export interface SparseMatrix {
  readonly column: readonly bigint[];
  readonly row: readonly bigint[];
}

export interface PoseidonConstants {
  /** Elements of the state: one more than the arity. */
  readonly width: number;
  /**
   * In the order in which they are added: `width` before the first S-boxes, then those that follow
   * the S-boxes of each round but the last: `width` after a full round, one after a partial one.
   */
  readonly roundKeys: readonly bigint[];
  /** After every full round but the fourth. */
  readonly mds: Matrix;
  /** After the fourth full round, the last before the partial ones. */
  readonly preSparse: Matrix;
  /** After each partial round. */
  readonly sparse: readonly SparseMatrix[];
}

export const FULL_ROUNDS = 8;
const HALF = FULL_ROUNDS / 2;
const FIELD_BITS = 255;
const { r: R, noble } = curveOf('bls12-381');
const { Fr } = noble.fields;

/** Tag of a full Merkle node of `arity` children, and of a column of `arity` rows. */
export function merkleTag(arity: number): bigint {
  return (1n << BigInt(arity)) - 1n;
}

/** Tag of neptune's `Arbitrary(1)`: SnapDeals draws its randomness under it. */
export const ARBITRARY_TAG = 1n << 40n;

/** Partial rounds by width: eprint 2019/458, with neptune's margin of 7.5 % and two full rounds. */
export function partialRounds(width: number): number {
  if (width <= 3) return 55;
  if (width <= 7) return 56;
  if (width <= 15) return 57;
  if (width <= 25) return 59;
  assert(width === 37, `poseidon: expected a known width, got ${width}`);
  return 60;
}

/** `poseidon`, or other code that equals it. */
export type Poseidon = (preimage: readonly bigint[], tag?: bigint) => bigint;

/** Poseidon of as many elements below r as the arity. */
export function poseidon(preimage: readonly bigint[], tag = merkleTag(preimage.length)): bigint {
  const { width, roundKeys, mds, preSparse, sparse } = poseidonConstants(preimage.length);
  let key = width;
  let state = [tag, ...preimage].map((x, i) => (x + (roundKeys[i] as bigint)) % R);
  const fullRound = (matrix: Matrix) => {
    state = times(
      state.map((x) => fifthPower(x) + (roundKeys[key++] ?? 0n)),
      matrix,
    );
  };
  for (let round = 0; round < HALF; round++) fullRound(round === HALF - 1 ? preSparse : mds);
  for (const matrix of sparse) {
    state[0] = fifthPower(state[0] as bigint) + (roundKeys[key++] as bigint);
    state = timesSparse(state, matrix);
  }
  for (let round = 0; round < HALF; round++) fullRound(mds);
  return state[1] as bigint;
}

const CONSTANTS = new Map<number, PoseidonConstants>();

export function poseidonConstants(arity: number): PoseidonConstants {
  const known = CONSTANTS.get(arity);
  if (known !== undefined) return known;
  const width = arity + 1;
  const mds = cauchyMatrix(width);
  const { sparse, preSparse } = factorize(mds, partialRounds(width));
  const constants = { width, roundKeys: compressKeys(width, mds), mds, preSparse, sparse };
  CONSTANTS.set(arity, constants);
  return constants;
}

function fifthPower(x: bigint): bigint {
  const square = (x * x) % R;
  return (((square * square) % R) * x) % R;
}

/** m_ij = 1 / (x_i + y_j) with x_i = i, y_j = width + j: symmetric, and of maximum distance. */
function cauchyMatrix(width: number): Matrix {
  const indices = Array.from({ length: width }, (_, i) => i);
  return indices.map((i) => indices.map((j) => Fr.inv(BigInt(i + width + j))));
}

/**
 * The constants of a round commute with the linear layer before it when they are multiplied by its
 * inverse; in the partial rounds all of them but the first element's move on to an earlier round.
 */
function compressKeys(width: number, mds: Matrix): bigint[] {
  const partial = partialRounds(width);
  const all = grainConstants(width, partial);
  const keysOf = (round: number) => all.slice(round * width, (round + 1) * width);
  const inverse = invert(mds);
  const partialKeys: bigint[] = [];
  let carried = keysOf(HALF + partial);
  for (let round = HALF + partial - 1; round >= HALF; round--) {
    const [first, ...rest] = times(carried, inverse) as [bigint, ...bigint[]];
    partialKeys.unshift(first);
    carried = keysOf(round).map((key, i) => (key + (i === 0 ? 0n : (rest[i - 1] as bigint))) % R);
  }
  const before = Array.from({ length: HALF - 1 }, (_, i) => times(keysOf(i + 1), inverse));
  const after = Array.from({ length: HALF - 1 }, (_, i) =>
    times(keysOf(HALF + partial + i + 1), inverse),
  );
  return [
    ...keysOf(0),
    ...before.flat(),
    ...times(carried, inverse),
    ...partialKeys,
    ...after.flat(),
  ];
}

/**
 * M = M'·M'' with M' the unit matrix in its first row and column and M'' sparse; M' commutes with a
 * partial round, so it is multiplied into the layer before, round by round.
 */
function factorize(
  mds: Matrix,
  rounds: number,
): { readonly sparse: SparseMatrix[]; readonly preSparse: Matrix } {
  const sparse: SparseMatrix[] = [];
  let current = mds;
  for (let round = 0; round < rounds; round++) {
    const [[corner, ...row], ...below] = current as [[bigint, ...bigint[]], ...bigint[][]];
    const inner = below.map(([, ...rest]) => rest);
    const left = below.map(([first]) => first as bigint);
    sparse.unshift({ column: [corner, ...times(left, invert(inner))], row });
    const unit = [1n, ...row.map(() => 0n)];
    const dense = [unit, ...inner.map((rest) => [0n, ...rest])];
    current = mds.map((line) => times(line, dense));
  }
  return { sparse, preSparse: current };
}

function times(vector: readonly bigint[], matrix: Matrix): bigint[] {
  return vector.map((_, j) => {
    let sum = 0n;
    for (let i = 0; i < vector.length; i++) sum += (vector[i] as bigint) * at(matrix, i, j);
    return sum % R;
  });
}

function timesSparse(state: readonly bigint[], { column, row }: SparseMatrix): bigint[] {
  const first = state[0] as bigint;
  let sum = 0n;
  for (let i = 0; i < state.length; i++) sum += (state[i] as bigint) * (column[i] as bigint);
  return state.map((x, j) => (j === 0 ? sum : x + first * (row[j - 1] as bigint)) % R);
}

function at(matrix: Matrix, i: number, j: number): bigint {
  return (matrix[i] as readonly bigint[])[j] as bigint;
}

/** Gauss and Jordan. */
function invert(matrix: Matrix): Matrix {
  const size = matrix.length;
  const rows = matrix.map((row, i) => [...row, ...row.map((_, j) => (i === j ? 1n : 0n))]);
  for (let column = 0; column < size; column++) {
    const pivot = rows.findIndex((row, i) => i >= column && row[column] !== 0n);
    assert(pivot >= 0, 'poseidon: expected an invertible matrix');
    const lead = rows[pivot] as bigint[];
    [rows[pivot], rows[column]] = [rows[column] as bigint[], lead];
    const inverse = Fr.inv(lead[column] as bigint);
    for (let j = column; j < 2 * size; j++) lead[j] = ((lead[j] as bigint) * inverse) % R;
    for (const row of rows) {
      const factor = row[column] as bigint;
      if (row === lead || factor === 0n) continue;
      for (let j = column; j < 2 * size; j++) {
        row[j] = Fr.create((row[j] as bigint) - factor * (lead[j] as bigint));
      }
    }
  }
  return rows.map((row) => row.slice(size));
}

/**
 * (8 + partial)·width elements by the Grain LFSR of eprint 2019/458, appendix F: 80 bits of
 * state, the first 160 outputs dropped, the rest shrunk by their own odd bits; numbers of r or
 * more are skipped.
 */
function grainConstants(width: number, partial: number): bigint[] {
  const state = [
    [2, 1],
    [4, 1],
    [12, FIELD_BITS],
    [12, width],
    [10, FULL_ROUNDS],
    [10, partial],
    [30, 2 ** 30 - 1],
  ].flatMap(([bits, value]) => bitsOf(value as number, bits as number));
  let head = 0;
  const tap = (i: number) => state[(head + i) % 80] as number;
  const clock = () => {
    const bit = tap(62) ^ tap(51) ^ tap(38) ^ tap(23) ^ tap(13) ^ tap(0);
    state[head] = bit;
    head = (head + 1) % 80;
    return bit;
  };
  for (let i = 0; i < 160; i++) clock();
  const nextBit = () => {
    while (clock() === 0) clock();
    return clock();
  };
  const constants: bigint[] = [];
  while (constants.length < (FULL_ROUNDS + partial) * width) {
    let digits = '0b';
    for (let i = 0; i < FIELD_BITS; i++) digits += nextBit();
    const value = BigInt(digits);
    if (value < R) constants.push(value);
  }
  return constants;
}

/** Most significant first. */
function bitsOf(value: number, count: number): number[] {
  return Array.from({ length: count }, (_, i) => (value >> (count - 1 - i)) & 1);
}
