import { LinearCombination, ONE } from '../../r1cs/linear-combination.ts';
import type { Recorder } from '../../r1cs/recorder.ts';
import type { Operation } from '../../r1cs/recorder-leaf.ts';
import {
  addBit,
  type Bit,
  bitSum,
  type Literal,
  literal,
  not,
} from '../../r1cs/recorder-signals.ts';

/**
 * A new variable that is 0 or 1: (1 - x)·x = 0.
 * @cost 1 constraint, 1 aux variable
 */
export function allocateBit(cs: Recorder, operation: Operation): Literal {
  const wire = cs.allocate(operation);
  cs.enforce(
    LinearCombination.constant(1n).plus(wire, -1n),
    LinearCombination.of(wire),
    new LinearCombination(),
  );
  return literal(wire);
}

/**
 * x ⊕ y = x + y - 2xy, so 2x·y = x + y - z. FIPS 180-4 section 3.2.
 * @returns a bit; needs no constraint of its own, since the formula yields 0 or 1 on bits
 * @cost    1 constraint, 1 aux variable; nothing where an operand is constant
 */
export function xor(cs: Recorder, x: Bit, y: Bit): Bit {
  if (typeof x === 'boolean') return x ? not(y) : y;
  if (typeof y === 'boolean') return y ? not(x) : x;
  if (x.negated === y.negated) return xorWires(cs, x, y);
  return not(x.negated ? xorWires(cs, y, x) : xorWires(cs, x, y));
}

/** Of the wires, whatever the literals negate. */
function xorWires(cs: Recorder, x: Literal, y: Literal): Literal {
  const z = cs.allocate({ op: 'xor', bits: [literal(x.wire), literal(y.wire)] });
  cs.enforce(
    LinearCombination.of(x.wire, 2n),
    LinearCombination.of(y.wire),
    LinearCombination.of(x.wire).plus(y.wire).plus(z, -1n),
  );
  return literal(z);
}

/**
 * x ∧ y = xy. Of a negated operand the factor is 1 - x; where only one is negated, it is second.
 * @cost 1 constraint, 1 aux variable; nothing where an operand is constant
 */
export function and(cs: Recorder, x: Bit, y: Bit): Bit {
  if (x === false || y === false) return false;
  if (x === true) return y;
  if (y === true) return x;
  const [first, second] = x.negated && !y.negated ? [y, x] : [x, y];
  const z = cs.allocate({ op: 'and', bits: [first, second] });
  cs.enforce(bitSum(first), bitSum(second), LinearCombination.of(z));
  return literal(z);
}

/**
 * Ch(x, y, z) = (x ∧ y) ⊕ (¬x ∧ z) = x(y - z) + z. FIPS 180-4 section 4.1.2, equation (4.2).
 * @cost 1 constraint, 1 aux variable; no more than `and` where an operand is constant
 */
export function choose(cs: Recorder, x: Bit, y: Bit, z: Bit): Bit {
  if (x === false) return z;
  if (x === true && typeof y === 'boolean' && typeof z === 'boolean') return y;
  if (y === false) return and(cs, not(x), z);
  if (z === false) return and(cs, x, y);
  if (z === true) return not(and(cs, x, not(y)));
  if (y === true) return not(and(cs, not(x), not(z)));
  const chosen = cs.allocate({ op: 'choose', bits: [x, y, z] });
  cs.enforce(addBit(bitSum(y), z, -1n), bitSum(x), addBit(LinearCombination.of(chosen), z, -1n));
  return literal(chosen);
}

/**
 * Maj(x, y, z) = yz + x(y + z - 2yz). FIPS 180-4 section 4.1.2, equation (4.3).
 * @cost 2 constraints, 2 aux variables; no more than `and` where an operand is constant
 */
export function majority(cs: Recorder, x: Bit, y: Bit, z: Bit): Bit {
  if (x === false) return and(cs, y, z);
  if (y === false) return and(cs, x, z);
  if (z === false) return and(cs, x, y);
  if (z === true) return not(and(cs, not(x), not(y)));
  if (y === true) return not(and(cs, not(x), not(z)));
  if (x === true) return not(and(cs, not(y), not(z)));
  // The order of the variables is this one, that of the rows the other.
  const result = cs.allocate({ op: 'majority', bits: [x, y, z] });
  const both = and(cs, y, z);
  cs.enforce(
    addBit(addBit(addBit(new LinearCombination(), both, 2n), y, -1n), z, -1n),
    bitSum(x),
    bitSum(both).plus(result, -1n),
  );
  return literal(result);
}

/** bit·1 = …: the second factor of rows that are linear. */
export function one(): LinearCombination {
  return LinearCombination.of(ONE);
}
