import { assert } from '../core/assert.ts';
import { R } from './linear-combination.ts';
import { TERM_INDEX_MAX, type Template } from './template.ts';

/** Numbers equal values in the order in which they come up. */
export class Interner<T> {
  readonly values: T[] = [];
  readonly #indices = new Map<T, number>();

  index(value: T): number {
    let index = this.#indices.get(value);
    if (index === undefined) {
      index = this.values.push(value) - 1;
      this.#indices.set(value, index);
    }
    return index;
  }
}

/** What the templates of a program share. */
export class TemplateLibrary {
  readonly labels = new Interner<string>();
  readonly templates: Template[] = [];
  readonly #coefficients = new Interner<bigint>();
  readonly #signed = new Map<bigint, number>();
  readonly #recorded = new Map<string, unknown>();

  readonly #one = this.#coefficients.index(1n);

  constructor() {
    this.labels.index('');
  }

  get coefficients(): readonly bigint[] {
    return this.#coefficients.values;
  }

  /** @param value between -r and r, not zero */
  coefficient(value: bigint): number {
    // Half of all coefficients are 1, and a number is found faster than a bigint.
    if (value === 1n) return this.#one;
    const known = this.#signed.get(value);
    if (known !== undefined) return known;
    const index = this.#coefficients.index(value < 0n ? value + R : value);
    assert(index <= TERM_INDEX_MAX, 'program: expected fewer different coefficients');
    this.#signed.set(value, index);
    return index;
  }

  add(template: Template): number {
    return this.templates.push(template) - 1;
  }

  /** What `record` makes for a key, made once. */
  once<T>(key: string, record: () => T): T {
    const known = this.#recorded.get(key) as T | undefined;
    if (known !== undefined) return known;
    const made = record();
    this.#recorded.set(key, made);
    return made;
  }
}
