/**
 * Values as Rust's serde writes them, described once for the readers of both of its encodings,
 * bincode and JSON. Every list has a bound.
 */
export interface Schema<T> {
  readonly node: SchemaNode;
  /** Carries the type; no value. */
  readonly __type?: T;
}

export type SchemaNode =
  /** 32 bytes: raw in bincode, an array of numbers in JSON. `scalar` is below r, little-endian. */
  | { readonly kind: 'scalar' | 'bytes32' }
  /** Unsigned, and below `limit`. */
  | { readonly kind: 'u32' | 'u64'; readonly limit: bigint }
  /** PhantomData: null in JSON, nothing in bincode. */
  | { readonly kind: 'null' }
  | {
      readonly kind: 'list';
      readonly item: SchemaNode;
      readonly length: number;
      /** What messages call an item. */
      readonly name: string;
    }
  | { readonly kind: 'struct'; readonly fields: readonly Field[] }
  /** The one variant of an enum that is possible; in bincode an index stands for its name. */
  | {
      readonly kind: 'variant';
      readonly name: string;
      readonly index: number;
      readonly node: SchemaNode;
    }
  /** A value that is read as another one is, and then converted. */
  | {
      readonly kind: 'mapped';
      readonly node: SchemaNode;
      readonly convert: (value: never) => unknown;
    };

export interface Field {
  readonly name: string;
  readonly node: SchemaNode;
}

type Of<S> = S extends Schema<infer T> ? T : never;

export const scalar: Schema<bigint> = { node: { kind: 'scalar' } };
export const bytes32: Schema<Uint8Array> = { node: { kind: 'bytes32' } };
export const u64: Schema<bigint> = { node: { kind: 'u64', limit: 2n ** 64n } };
export const u32: Schema<bigint> = { node: { kind: 'u32', limit: 2n ** 32n } };
export const phantom: Schema<null> = { node: { kind: 'null' } };

/** A u64 that is an index below `limit`. */
export function index(limit: number): Schema<bigint> {
  return { node: { kind: 'u64', limit: BigInt(limit) } };
}

/** @param name of an item in messages, for example `challenge` */
export function list<T>(item: Schema<T>, length: number, name: string): Schema<readonly T[]> {
  return { node: { kind: 'list', item: item.node, length, name } };
}

/** Fields in the order of their declaration, which is that of bincode. */
export function struct<F extends Readonly<Record<string, Schema<unknown>>>>(
  fields: F,
): Schema<{ readonly [K in keyof F]: Of<F[K]> }> {
  const nodes = Object.entries(fields).map(([name, { node }]) => ({ name, node }));
  return { node: { kind: 'struct', fields: nodes } };
}

/** @param place of the variant in the enum */
export function variant<T>(name: string, place: number, value: Schema<T>): Schema<T> {
  return { node: { kind: 'variant', name, index: place, node: value.node } };
}

export function mapped<T, U>(value: Schema<T>, convert: (value: T) => U): Schema<U> {
  return { node: { kind: 'mapped', node: value.node, convert } };
}

/** Where in a file a value stands, for messages. */
export class Place {
  readonly #file: string;
  readonly #parts: string[] = [];

  constructor(file: string) {
    this.#file = file;
  }

  toString(): string {
    return [this.#file, ...(this.#parts.length > 0 ? [this.#parts.join(', ')] : [])].join(': ');
  }

  enter(part: string): void {
    this.#parts.push(part);
  }

  leave(): void {
    this.#parts.pop();
  }
}
