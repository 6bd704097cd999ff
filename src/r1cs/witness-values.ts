import { readBigIntLE } from '../core/bytes.ts';
import { formatError } from '../core/errors.ts';
import type { ByteSource } from '../core/source.ts';

const SCALAR_BYTES = 32;
const WIRES_A_PAGE = 32_768;

/** The values of all wires, read by the page (1 MiB) when they are first asked for, then kept. */
export class WitnessValues {
  readonly count: number;
  readonly #source: ByteSource;
  readonly #offset: number;
  readonly #pages: Uint8Array[] = [];

  /**
   * @param source borrowed
   * @param offset where `count` values of 32 bytes, canonical little-endian, begin in it
   */
  constructor(source: ByteSource, offset: number, count: number) {
    this.count = count;
    this.#source = source;
    this.#offset = offset;
  }

  /** A promise only where the page has to be read first. @throws ERR_FORMAT for no such wire */
  at(wire: number): bigint | Promise<bigint> {
    if (wire >= this.count) throw formatError('constraint: wire', `below ${this.count}`, wire);
    const page = this.#pages[Math.floor(wire / WIRES_A_PAGE)];
    return page === undefined ? this.#read(wire) : valueIn(page, wire);
  }

  async #read(wire: number): Promise<bigint> {
    const index = Math.floor(wire / WIRES_A_PAGE);
    const first = index * WIRES_A_PAGE;
    const wires = Math.min(WIRES_A_PAGE, this.count - first);
    const page = await this.#source.read(this.#offset + first * SCALAR_BYTES, wires * SCALAR_BYTES);
    this.#pages[index] = page;
    return valueIn(page, wire);
  }
}

function valueIn(page: Uint8Array, wire: number): bigint {
  const at = (wire % WIRES_A_PAGE) * SCALAR_BYTES;
  return readBigIntLE(page.subarray(at, at + SCALAR_BYTES));
}
