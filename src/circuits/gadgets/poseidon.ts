import {
  FULL_ROUNDS,
  type Matrix,
  merkleTag,
  type PoseidonConstants,
  poseidonConstants,
  type SparseMatrix,
} from '../../math/poseidon.ts';
import { LinearCombination, ONE, R, type Wire } from '../../r1cs/linear-combination.ts';
import type { Recorder } from '../../r1cs/recorder.ts';
import { reduce } from './number.ts';

/** An element of the state: a variable, or a sum that has none yet. */
type Element = Wire | LinearCombination;

const HALF = FULL_ROUNDS / 2;

/**
 * Poseidon (src/math/poseidon.ts) as neptune 11's `circuit::poseidon_hash` constrains it: an S-box
 * has a row for its square, fourth and fifth power, and takes the key that follows into the last;
 * linear layers cost nothing, and an S-box of a sum first makes it a variable. The first keys go
 * into the first S-boxes; that of the tag is constant.
 * @cost 3·arity + 28·width + 4·partial rounds + 1 constraints and aux variables, width = arity + 1:
 *       311, 377, 505 and 598 for 2, 4, 8 and 11 numbers
 */
export function poseidon(
  cs: Recorder,
  preimage: readonly Wire[],
  tag = merkleTag(preimage.length),
): Wire {
  const name = `poseidon ${preimage.length} tag ${tag}`;
  return cs.template(name, preimage, (inner, own) => permute(inner, own, tag));
}

function permute(cs: Recorder, preimage: readonly Wire[], tag: bigint): Wire {
  const constants = poseidonConstants(preimage.length);
  const keys = constants.roundKeys.values();
  const initial = constants.roundKeys.slice(0, constants.width);
  for (const _ of initial) keys.next();
  const nextKey = () => keys.next().value ?? 0n;
  let state = cs.scope('full round 0', () => firstRound(cs, preimage, tag, initial, nextKey));
  state = mix(state, constants.mds);
  const fullRound = (round: number, matrix: Matrix) => {
    cs.scope(`full round ${round}`, () => {
      state = state.map((element) => sbox(cs, element, nextKey()));
    });
    state = mix(state, matrix);
  };
  for (let round = 1; round < HALF; round++) {
    fullRound(round, round === HALF - 1 ? constants.preSparse : constants.mds);
  }
  state = partialRounds(cs, state, constants, nextKey);
  for (let round = HALF; round < FULL_ROUNDS; round++) fullRound(round, constants.mds);
  return cs.scope('digest', () => toWire(cs, state[1] as Element));
}

function partialRounds(
  cs: Recorder,
  before: readonly Element[],
  { sparse }: PoseidonConstants,
  nextKey: () => bigint,
): Element[] {
  let state = [...before];
  for (const [round, matrix] of sparse.entries()) {
    state[0] = cs.scope(`partial round ${round}`, () => sbox(cs, state[0] as Element, nextKey()));
    state = mixSparse(state, matrix);
  }
  return state;
}

/** Keys before and after the S-boxes. */
function firstRound(
  cs: Recorder,
  preimage: readonly Wire[],
  tag: bigint,
  keys: readonly bigint[],
  nextKey: () => bigint,
): Element[] {
  const constant = (tag + (keys[0] as bigint)) ** 5n + nextKey();
  const first = LinearCombination.constant(constant % R);
  const others = preimage.map((x, i) =>
    fifthPower(cs, LinearCombination.of(x).plus(ONE, keys[i + 1] as bigint), nextKey()),
  );
  return [first, ...others];
}

/** element^5 + key */
function sbox(cs: Recorder, element: Element, key: bigint): Wire {
  return fifthPower(cs, LinearCombination.of(toWire(cs, element)), key);
}

/** x^5 + key, with rows for x², x⁴ and x⁵: x·x⁴ = result - key. */
function fifthPower(cs: Recorder, x: LinearCombination, key: bigint): Wire {
  const product = (left: LinearCombination, right: LinearCombination, plus: bigint): Wire => {
    const result = cs.allocate({
      op: 'product',
      factors: [left, right],
      plus: LinearCombination.constant(plus),
    });
    cs.enforce(left, right, LinearCombination.of(result).plus(ONE, -plus));
    return result;
  };
  const square = LinearCombination.of(product(x, x, 0n));
  const fourth = LinearCombination.of(product(square, square, 0n));
  return product(x, fourth, key);
}

function toWire(cs: Recorder, element: Element): Wire {
  return element instanceof LinearCombination ? reduce(cs, element) : element;
}

/** state · matrix */
function mix(state: readonly Element[], matrix: Matrix): Element[] {
  return state.map((_, j) =>
    sum(state.map((element, i) => [element, (matrix[i] as readonly bigint[])[j] as bigint])),
  );
}

function mixSparse(state: readonly Element[], { column, row }: SparseMatrix): Element[] {
  const first = state[0] as Element;
  return state.map((element, j) =>
    j === 0
      ? sum(state.map((each, i) => [each, column[i] as bigint]))
      : sum([
          [element, 1n],
          [first, row[j - 1] as bigint],
        ]),
  );
}

function sum(terms: readonly (readonly [Element, bigint])[]): LinearCombination {
  const result = new LinearCombination();
  for (const [element, factor] of terms) {
    if (element instanceof LinearCombination) result.plusAll(element, factor);
    else result.plus(element, factor);
  }
  return result;
}
