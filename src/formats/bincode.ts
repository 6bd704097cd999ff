import { readBigIntLE } from '../core/bytes.ts';
import { formatError } from '../core/errors.ts';
import { curveOf } from '../math/curve.ts';
import { Place, type Schema, type SchemaNode } from './vanilla-schema.ts';

const { r } = curveOf('bls12-381');
const VALUE_BYTES = 32;
const LENGTH_BYTES = 8;
const VARIANT_BYTES = 4;

/** Bytes of every value of a schema. */
export function bincodeLength({ node }: Schema<unknown>): number {
  return lengthOf(node);
}

function lengthOf(node: SchemaNode): number {
  switch (node.kind) {
    case 'scalar':
    case 'bytes32':
      return VALUE_BYTES;
    case 'u32':
      return 4;
    case 'u64':
      return 8;
    case 'null':
      return 0;
    case 'list':
      return LENGTH_BYTES + node.length * lengthOf(node.item);
    case 'struct':
      return node.fields.reduce((sum, field) => sum + lengthOf(field.node), 0);
    case 'variant':
      return VARIANT_BYTES + lengthOf(node.node);
    case 'mapped':
      return lengthOf(node.node);
  }
}

/**
 * A value in bincode 1 with its default options: little-endian, integers of fixed width, u64 for
 * lengths, u32 for variants.
 * @throws ERR_FORMAT that names the file and the place in it
 */
export function decodeBincode<T>(schema: Schema<T>, file: string, bytes: Uint8Array): T {
  const expected = bincodeLength(schema);
  if (bytes.length !== expected) throw formatError(file, `${expected} bytes`, bytes.length);
  return new Decoder(file, bytes).decode(schema.node) as T;
}

class Decoder {
  readonly #place: Place;
  readonly #bytes: Buffer;
  #at = 0;

  constructor(file: string, bytes: Uint8Array) {
    this.#place = new Place(file);
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  }

  decode(node: SchemaNode): unknown {
    switch (node.kind) {
      case 'scalar':
        return checkScalar(this.#place, this.#take(VALUE_BYTES));
      case 'bytes32':
        return Uint8Array.from(this.#take(VALUE_BYTES));
      case 'u32':
        return checkInteger(this.#place, BigInt(this.#take(4).readUInt32LE()), node.limit);
      case 'u64':
        return checkInteger(this.#place, this.#take(8).readBigUInt64LE(), node.limit);
      case 'null':
        return null;
      case 'list':
        return this.#list(node);
      case 'struct':
        return Object.fromEntries(
          node.fields.map((field) => [field.name, this.#inside(field.name, field.node)]),
        );
      case 'variant':
        this.#expect('variant', VARIANT_BYTES, node.index, ` (${node.name})`);
        return this.#inside(node.name, node.node);
      case 'mapped':
        return node.convert(this.decode(node.node) as never);
    }
  }

  #list({ item, length, name }: Extract<SchemaNode, { kind: 'list' }>): unknown[] {
    this.#expect('length', LENGTH_BYTES, length);
    return Array.from({ length }, (_, i) => this.#inside(`${name} ${i}`, item));
  }

  #inside(part: string, node: SchemaNode): unknown {
    this.#place.enter(part);
    const value = this.decode(node);
    this.#place.leave();
    return value;
  }

  #expect(what: string, bytes: number, expected: number, meaning = ''): void {
    const actual = readBigIntLE(this.#take(bytes));
    if (actual === BigInt(expected)) return;
    throw formatError(`${this.#place}: ${what}`, `${expected}${meaning}`, String(actual));
  }

  #take(length: number): Buffer {
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }
}

/** @throws ERR_FORMAT unless below r; the value is not told */
export function checkScalar(place: Place, bytes: Uint8Array): bigint {
  const value = readBigIntLE(bytes);
  if (value >= r) throw formatError(`${place}`, 'a number below r', 'a larger one');
  return value;
}

/** @throws ERR_FORMAT */
export function checkInteger(place: Place, value: bigint, limit: bigint): bigint {
  if (value >= limit) throw formatError(`${place}`, `a number below ${limit}`, String(value));
  return value;
}
