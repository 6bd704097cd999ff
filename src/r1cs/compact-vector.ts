import { createHash } from 'node:crypto';
import { viewOf, writeBigIntLE } from '../core/bytes.ts';
import { formatError } from '../core/errors.ts';
import type { Pacer } from '../math/pacer.ts';
import { canonical } from './program-values.ts';

const MAGIC = 'PLCV';
const VERSION = 1;
const HEADER_BYTES = 64;
const SCALAR_BYTES = 32;
const KIND = { bits: 0, small: 1, full: 2 } as const;
const SCALARS_A_CHUNK = 65_536;

/** By signed byte, as a canonical scalar. */
const SMALL = Array.from({ length: 256 }, (_, byte) =>
  writeBigIntLE(canonical(byte < 128 ? byte : byte - 256), SCALAR_BYTES),
);

/** Scalars of which nearly all are bits or small numbers (docs/program-format.md). */
export class CompactVector {
  readonly length: number;
  readonly #kind: number;
  readonly #values: Uint8Array;
  readonly #indices: Uint32Array;
  readonly #exceptions: Uint8Array;

  /**
   * @param bytes as native code makes them; borrowed
   * @throws ERR_FORMAT for something else, or sections outside of the bytes
   */
  constructor(bytes: Uint8Array) {
    const view = viewOf(bytes);
    const magic = Buffer.from(bytes.subarray(0, MAGIC.length)).toString('latin1');
    if (bytes.length < HEADER_BYTES || magic !== MAGIC || view.getUint32(4, true) !== VERSION) {
      throw formatError('compact vector', `${MAGIC} of version ${VERSION}`, 'something else');
    }
    const u64 = (at: number) => Number(view.getBigUint64(at, true));
    const section = (at: number, length: number) => {
      if (at + length <= bytes.length) return bytes.subarray(at, at + length);
      throw formatError('compact vector', 'sections inside of it', 'one outside');
    };
    this.length = u64(16);
    this.#kind = view.getUint32(8, true);
    const perByte = { [KIND.bits]: 1 / 8, [KIND.small]: 1, [KIND.full]: SCALAR_BYTES }[this.#kind];
    if (perByte === undefined) throw formatError('compact vector: kind', '0 to 2', this.#kind);
    this.#values = section(u64(32), Math.ceil(this.length * perByte));
    const indices = section(u64(40), 4 * u64(24));
    this.#indices = new Uint32Array(indices.buffer, indices.byteOffset, u64(24));
    this.#exceptions = section(u64(48), SCALAR_BYTES * u64(24));
  }

  /** Writes scalars from `first` on, 32 bytes each, canonical little-endian, until `to` is full. */
  expand(first: number, to: Uint8Array): void {
    const count = to.length / SCALAR_BYTES;
    if (this.#kind === KIND.full) {
      to.set(this.#values.subarray(first * SCALAR_BYTES, (first + count) * SCALAR_BYTES));
      return;
    }
    to.fill(0);
    for (let i = 0; i < count; i++) {
      const byte = this.#byteAt(first + i);
      if (byte === 0) continue;
      if (byte < 128) to[i * SCALAR_BYTES] = byte;
      else to.set(SMALL[byte] as Uint8Array, i * SCALAR_BYTES);
    }
    for (let k = this.#firstException(first); k < this.#indices.length; k++) {
      const at = (this.#indices[k] as number) - first;
      if (at >= count) break;
      const value = this.#exceptions.subarray(k * SCALAR_BYTES, (k + 1) * SCALAR_BYTES);
      to.set(value, at * SCALAR_BYTES);
    }
  }

  #byteAt(index: number): number {
    if (this.#kind === KIND.small) return this.#values[index] as number;
    return ((this.#values[index >>> 3] as number) >> (index & 7)) & 1;
  }

  /** At or after an index of the vector. */
  #firstException(index: number): number {
    let [low, high] = [0, this.#indices.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#indices[middle] as number) < index) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** SHA-256 of all scalars, 32 bytes each, canonical little-endian; hex. */
export async function hashCompact(vector: CompactVector, pacer: Pacer): Promise<string> {
  const hash = createHash('sha256');
  const chunk = new Uint8Array(SCALAR_BYTES * SCALARS_A_CHUNK);
  for (let first = 0; first < vector.length; first += SCALARS_A_CHUNK) {
    const count = Math.min(SCALARS_A_CHUNK, vector.length - first);
    const part = chunk.subarray(0, count * SCALAR_BYTES);
    vector.expand(first, part);
    hash.update(part);
    if (pacer.due) await pacer.pause();
  }
  return hash.digest('hex');
}
