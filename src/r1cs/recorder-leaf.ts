import { assert } from '../core/assert.ts';
import { LinearCombination, ONE, type Wire } from './linear-combination.ts';
import type { TemplateLibrary } from './recorder-library.ts';
import type { Bit } from './recorder-signals.ts';
import { type Leaf, OP, OPERATION_WORDS, TERM_INDEX_MAX } from './template.ts';

/** How an aux variable is computed, over wires that exist already. */
export type Operation =
  | { readonly op: 'hint' }
  | { readonly op: 'xor' | 'and'; readonly bits: readonly [Bit, Bit] }
  | { readonly op: 'choose' | 'majority'; readonly bits: readonly [Bit, Bit, Bit] }
  | { readonly op: 'bit'; readonly of: LinearCombination; readonly index: number }
  | { readonly op: 'linear'; readonly of: LinearCombination }
  | {
      readonly op: 'product';
      readonly factors: readonly [LinearCombination, LinearCombination];
      readonly plus: LinearCombination;
    };

/** A run of rows and variables of one recorder without a template in between. */
export class LeafDraft {
  readonly operations: Operation[] = [];
  readonly publics: LinearCombination[] = [];
  /** Three a row. */
  readonly rows: LinearCombination[] = [];
  readonly marks: number[] = [];
  readonly #firstPublic: number;
  readonly #firstAux: number;

  /** @param firstPublic, firstAux indices of the first variables that will be its own */
  constructor(firstPublic: number, firstAux: number) {
    this.#firstPublic = firstPublic;
    this.#firstAux = firstAux;
  }

  /** @returns the template, and the recorder's wire for each of its bound wires */
  finish(name: string, library: TemplateLibrary): { leaf: Leaf; bindings: Wire[] } {
    const lcs = new LcTable();
    const lcsOfRows = Uint32Array.from(this.rows, (lc) => lcs.index(lc));
    const lcsOfPublics = Uint32Array.from(this.publics, (lc) => lcs.index(lc));
    for (const operation of this.operations) forEachLc(operation, (lc) => lcs.index(lc));
    const bindings = this.#outside(lcs);
    const local = this.#numbering(bindings);
    const { operations, hints } = encodeOperations(this.operations, lcs, local);
    const leaf: Leaf = {
      ...{ kind: 'leaf', name, bound: bindings.length, publics: this.publics.length },
      ...{ aux: this.operations.length, rows: this.rows.length / 3, hints },
      ...{ ...encodeTerms(lcs.all, local, library), lcsOfRows, operations, lcsOfPublics },
      marks: Uint32Array.from(this.marks),
    };
    return { leaf, bindings };
  }

  #isOwn(wire: Wire): boolean {
    if (wire.kind === 'aux') return wire.index >= this.#firstAux;
    return wire.kind === 'public' && wire.index >= this.#firstPublic;
  }

  /** The wires from outside, in the order of their first use. */
  #outside(lcs: LcTable): Wire[] {
    const outside = new Set<Wire>();
    const look = (wire: Wire) => {
      if (wire !== ONE && !this.#isOwn(wire)) outside.add(wire);
    };
    for (const lc of lcs.all) lc.forEach(look);
    for (const operation of this.operations) {
      if (!('bits' in operation)) continue;
      for (const bit of operation.bits) if (typeof bit !== 'boolean') look(bit.wire);
    }
    return [...outside];
  }

  #numbering(bindings: readonly Wire[]): (wire: Wire) => number {
    const bound = new Map(bindings.map((wire, i) => [wire, i + 1]));
    const publics = 1 + bindings.length - this.#firstPublic;
    const aux = 1 + bindings.length + this.publics.length - this.#firstAux;
    const wires = aux + this.#firstAux + this.operations.length;
    assert(wires - 1 <= TERM_INDEX_MAX, `template: expected fewer wires, got ${wires}`);
    return (wire) => {
      if (wire === ONE) return 0;
      return bound.get(wire) ?? wire.index + (wire.kind === 'aux' ? aux : publics);
    };
  }
}

/** Linear combinations by identity; those of no term, or of one wire once, by value. */
class LcTable {
  readonly all = [new LinearCombination()];
  readonly #indices = new Map<LinearCombination, number>();
  readonly #singles = new Map<Wire, number>();

  /** The linear combination does not change any more. */
  index(lc: LinearCombination): number {
    let index = this.#indices.get(lc);
    if (index === undefined) {
      lc.freeze();
      index = this.#add(lc);
      this.#indices.set(lc, index);
    }
    return index;
  }

  #add(lc: LinearCombination): number {
    let [terms, single]: [number, Wire | undefined] = [0, undefined];
    lc.forEach((wire, coefficient) => {
      terms++;
      single = terms === 1 && coefficient === 1n ? wire : undefined;
    });
    if (terms === 0) return 0;
    const known = single && this.#singles.get(single);
    if (known !== undefined) return known;
    const index = this.all.push(lc) - 1;
    if (single !== undefined) this.#singles.set(single, index);
    return index;
  }
}

function encodeTerms(
  lcs: readonly LinearCombination[],
  local: (wire: Wire) => number,
  library: TemplateLibrary,
): { readonly lcEnds: Uint32Array; readonly terms: Uint32Array } {
  const terms: number[] = [];
  const lcEnds = Uint32Array.from(lcs, (lc) => {
    const own: number[] = [];
    lc.forEach((wire, coefficient) => {
      own.push((local(wire) | (library.coefficient(coefficient) << 16)) >>> 0);
    });
    own.sort((x, y) => (x & TERM_INDEX_MAX) - (y & TERM_INDEX_MAX));
    for (const term of own) terms.push(term);
    return terms.length;
  });
  return { lcEnds, terms: Uint32Array.from(terms) };
}

function encodeOperations(
  operations: readonly Operation[],
  lcs: LcTable,
  local: (wire: Wire) => number,
): { readonly operations: Uint32Array; readonly hints: number } {
  const words = new Uint32Array(operations.length * OPERATION_WORDS);
  let hints = 0;
  for (const [i, operation] of operations.entries()) {
    let at = i * OPERATION_WORDS;
    words[at++] = OP[operation.op];
    if (operation.op === 'hint') words[at++] = hints++;
    if ('bits' in operation) {
      for (const bit of operation.bits) words[at++] = literalCode(bit, local);
    }
    forEachLc(operation, (lc) => {
      words[at++] = lcs.index(lc);
    });
    if (operation.op === 'bit') words[at++] = operation.index;
  }
  return { operations: words, hints };
}

function literalCode(bit: Bit, local: (wire: Wire) => number): number {
  if (typeof bit === 'boolean') return bit ? 0 : 1;
  return 2 * local(bit.wire) + (bit.negated ? 1 : 0);
}

function forEachLc(operation: Operation, visit: (lc: LinearCombination) => void): void {
  if (operation.op === 'product') {
    for (const lc of operation.factors) visit(lc);
    visit(operation.plus);
  } else if (operation.op === 'bit' || operation.op === 'linear') visit(operation.of);
}
