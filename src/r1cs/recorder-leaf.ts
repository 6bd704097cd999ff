import { assert } from '../core/assert.ts';
import type { LinearCombination } from './linear-combination.ts';
import { ONE, type Wire } from './linear-combination.ts';
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

/**
 * A wire before it is known how many are bound: its kind, in the order of local numbers, above 16
 * bits of its index within the kind. The constant 1 counts as the first bound wire.
 */
type Reference = number;
const [BOUND, PUBLIC, OWN_AUX] = [0, 1, 2];
const KIND_SHIFT = 16;

/** A run of rows and variables of one recorder, without a template in between. */
export class LeafDraft {
  readonly #library: TemplateLibrary;
  readonly #firstPublic: number;
  readonly #firstAux: number;
  readonly #bound = new Map<Wire, Reference>([[ONE, 0]]);
  readonly #terms = { wires: [] as Reference[], coefficients: [] as number[], ends: [0] };
  /** Linear combinations of one wire, once. */
  readonly #singles = new Map<Reference, number>();
  readonly #rows: number[] = [];
  readonly #operations: number[] = [];
  readonly #publics: number[] = [];
  readonly #marks: number[] = [];
  #markedLabel = 0;
  #hints = 0;

  /** @param firstPublic, firstAux indices of the first variables that will be its own */
  constructor(library: TemplateLibrary, firstPublic: number, firstAux: number) {
    this.#library = library;
    this.#firstPublic = firstPublic;
    this.#firstAux = firstAux;
  }

  allocate(operation: Operation): void {
    const words: number[] = [OP[operation.op]];
    if (operation.op === 'hint') words.push(this.#hints++);
    else if ('bits' in operation) for (const bit of operation.bits) words.push(this.#literal(bit));
    else if (operation.op === 'product') {
      for (const lc of [...operation.factors, operation.plus]) words.push(this.#lc(lc));
    } else words.push(this.#lc(operation.of), operation.op === 'bit' ? operation.index : 0);
    while (words.length < OPERATION_WORDS) words.push(0);
    this.#operations.push(...words);
  }

  allocatePublic(value: LinearCombination): void {
    this.#publics.push(this.#lc(value));
  }

  /** @param label of the part of the gadget that the row belongs to */
  enforce(a: LinearCombination, b: LinearCombination, c: LinearCombination, label: number): void {
    if (label !== this.#markedLabel) {
      this.#marks.push(this.#rows.length / 3, label);
      this.#markedLabel = label;
    }
    this.#rows.push(this.#lc(a), this.#lc(b), this.#lc(c));
  }

  /** @returns the template, and the recorder's wire for each of its bound wires */
  finish(name: string): { leaf: Leaf; bindings: Wire[] } {
    const bindings = [...this.#bound.keys()].slice(1);
    const [publics, aux] = [this.#publics.length, this.#operations.length / OPERATION_WORDS];
    const bases = [0, 1 + bindings.length, 1 + bindings.length + publics];
    const wires = 1 + bindings.length + publics + aux;
    assert(wires <= TERM_INDEX_MAX + 1, `${name}: expected fewer wires in a row, got ${wires}`);
    const local = (reference: Reference) =>
      (bases[reference >>> KIND_SHIFT] as number) + (reference & TERM_INDEX_MAX);
    const leaf: Leaf = {
      ...{ kind: 'leaf', name, bound: bindings.length, publics, aux },
      ...{ rows: this.#rows.length / 3, hints: this.#hints },
      lcEnds: Uint32Array.from(this.#terms.ends),
      terms: this.#encodeTerms(local),
      lcsOfRows: Uint32Array.from(this.#rows),
      operations: this.#encodeOperations(local),
      lcsOfPublics: Uint32Array.from(this.#publics),
      marks: Uint32Array.from(this.#marks),
    };
    return { leaf, bindings };
  }

  /** Index of a linear combination. Of no term: 0. */
  #lc(lc: LinearCombination): number {
    return lc.indexIn(this, () => this.#addTerms(lc));
  }

  #addTerms(lc: LinearCombination): number {
    const { wires, coefficients, ends } = this.#terms;
    const start = wires.length;
    lc.forEach((wire, coefficient) => {
      wires.push(this.#reference(wire));
      coefficients.push(this.#library.coefficient(coefficient));
    });
    if (wires.length === start) return 0;
    if (wires.length > start + 1 || coefficients[start] !== this.#library.coefficient(1n)) {
      return ends.push(wires.length) - 1;
    }
    const [wire] = wires.slice(start) as [Reference];
    const known = this.#singles.get(wire);
    if (known === undefined) {
      this.#singles.set(wire, ends.length);
      return ends.push(wires.length) - 1;
    }
    wires.length = start;
    coefficients.length = start;
    return known;
  }

  #reference(wire: Wire): Reference {
    if (wire.kind === 'aux' && wire.index >= this.#firstAux) {
      return (OWN_AUX << KIND_SHIFT) | (wire.index - this.#firstAux);
    }
    if (wire.kind === 'public' && wire.index >= this.#firstPublic) {
      return (PUBLIC << KIND_SHIFT) | (wire.index - this.#firstPublic);
    }
    const known = this.#bound.get(wire);
    if (known !== undefined) return known;
    const reference = (BOUND << KIND_SHIFT) | this.#bound.size;
    this.#bound.set(wire, reference);
    return reference;
  }

  #literal(bit: Bit): number {
    if (typeof bit === 'boolean') return bit ? 0 : 1;
    return 2 * this.#reference(bit.wire) + (bit.negated ? 1 : 0);
  }

  /** Terms of a linear combination are sorted by wire. */
  #encodeTerms(local: (reference: Reference) => number): Uint32Array {
    const { wires, coefficients, ends } = this.#terms;
    const terms = Uint32Array.from(wires, (wire, i) => {
      return local(wire) | ((coefficients[i] as number) << KIND_SHIFT);
    });
    for (let i = 1; i < ends.length; i++) {
      const own = terms.subarray(ends[i - 1], ends[i]);
      if (own.length > 1) own.sort((x, y) => (x & TERM_INDEX_MAX) - (y & TERM_INDEX_MAX));
    }
    return terms;
  }

  #encodeOperations(local: (reference: Reference) => number): Uint32Array {
    const words = Uint32Array.from(this.#operations);
    for (let at = 0; at < words.length; at += OPERATION_WORDS) {
      const op = words[at] as number;
      if (op < OP.xor || op > OP.majority) continue;
      for (let i = at + 1; i < at + OPERATION_WORDS; i++) {
        const code = words[i] as number;
        words[i] = 2 * local(code >>> 1) + (code & 1);
      }
    }
    return words;
  }
}
