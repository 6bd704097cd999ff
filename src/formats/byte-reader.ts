import { readBigIntLE, viewOf } from '../core/bytes.ts';
import { formatError } from '../core/errors.ts';

/**
 * Reads a small header from front to back, little-endian.
 * @throws ERR_FORMAT that names `subject`
 */
export class ByteReader {
  readonly #subject: string;
  readonly #bytes: Uint8Array;
  #at = 0;

  constructor(subject: string, bytes: Uint8Array) {
    this.#subject = subject;
    this.#bytes = bytes;
  }

  take(length: number): Uint8Array {
    const left = this.#bytes.length - this.#at;
    if (length > left) throw formatError(this.#subject, `${length} more bytes`, left);
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  u32(): number {
    return viewOf(this.take(4)).getUint32(0, true);
  }

  /** u32 length, then that many bytes of a number. */
  modulus(): bigint {
    return readBigIntLE(this.take(this.u32()));
  }

  /** Everything must have been read. */
  end(): void {
    if (this.#at === this.#bytes.length) return;
    throw formatError(this.#subject, `${this.#at} bytes`, this.#bytes.length);
  }
}
