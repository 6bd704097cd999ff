/**
 * A gadget under one pattern of inputs, as numbers only: what is recorded once and instantiated
 * many times. Wires are local: 0 is the constant 1; 1 to `bound` come from outside; then the
 * `publics` public inputs and the `aux` variables that an instance allocates, in their order.
 */
export type Template = Leaf | Composite;

export interface TemplateCounts {
  readonly bound: number;
  readonly publics: number;
  readonly aux: number;
  readonly rows: number;
  /** Private inputs that an instance takes. */
  readonly hints: number;
}

/** Rows and the operations that compute the variables they use. */
export interface Leaf extends TemplateCounts {
  readonly kind: 'leaf';
  readonly name: string;
  /** Linear combination i has the terms from lcEnds[i - 1] (or 0) to lcEnds[i]. 0 has none. */
  readonly lcEnds: Uint32Array;
  /** wire | index of the coefficient << 16, by ascending wire; coefficients are not zero. */
  readonly terms: Uint32Array;
  /** Three linear combinations a row: <a, w> · <b, w> = <c, w>. */
  readonly lcsOfRows: Uint32Array;
  /** Four words for each aux variable: an `OP` and its operands, which stand before it. */
  readonly operations: Uint32Array;
  /** The linear combination that is the value of each public input. Of any wire but public ones. */
  readonly lcsOfPublics: Uint32Array;
  /** Pairs (row, label): from that row on, rows are of the part of the gadget with that label. */
  readonly marks: Uint32Array;
}

/** Instances of other templates, in the order of synthesis. Own rows stand in unnamed leaves. */
export interface Composite extends TemplateCounts {
  readonly kind: 'composite';
  readonly name: string;
  readonly children: readonly Child[];
}

/** An instance inside a composite. Its variables and rows begin `…Base` after the composite's. */
export interface Child {
  /** Index of the template; below that of the composite. */
  readonly template: number;
  /** Which one it is, for people; may be 0, the empty label. */
  readonly label: number;
  /** The composite's local wire for each bound wire; all different, none the constant. */
  readonly bindings: Uint32Array;
  readonly publicBase: number;
  readonly auxBase: number;
  readonly rowBase: number;
  readonly hintBase: number;
}

/**
 * How an aux variable is computed. A literal is 2 · wire, plus 1 where negated: 0 is true, 1 is
 * false.
 */
export const OP = {
  /** The private input x of the instance. */
  hint: 0,
  /** Of literals x and y, and so on. */
  xor: 1,
  and: 2,
  /** x ? y : z */
  choose: 3,
  majority: 4,
  /** Bit y of the value of linear combination x, as an integer below r. */
  bit: 5,
  /** The value of linear combination x. */
  linear: 6,
  /** <x> · <y> + <z> of linear combinations. */
  product: 7,
} as const;

export const OPERATION_WORDS = 4;
/** Local wires of a leaf, and coefficients of a program: each has 16 bits of a term. */
export const TERM_INDEX_MAX = 0xffff;
