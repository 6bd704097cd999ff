import { randomUUID } from 'node:crypto';
import { KIB, MIB } from '../../core/units.ts';
import { Base64Decoder } from './base64.ts';

/** Of a request: the first phase of a 64 GiB sector takes 60 MB in base64, a batch several. */
export const BODY_BYTES_MAX = 256 * MIB;
/** A JSON string that is longer is taken for base64 and set aside. */
export const LONG_STRING_CHARS = 16 * KIB;
/** Of what stands beside long strings: a partition of WindowPoSt has 0.6 MB of challenges. */
export const TEXT_BYTES_MAX = 2 * MIB;
/** Strings set aside: a batch may have some, SnapDeals has 16. */
const SPILLED_MAX = 4096;

const CLOSING_QUOTE = Buffer.from('"');
const [QUOTE, BACKSLASH] = Buffer.from('"\\') as unknown as readonly [number, number];

/** What became of a long string: what `spill` made of its bytes, or why it could not. */
export type Spilled<T> = { readonly value: T } | { readonly error: unknown };

export interface SpilledText<T> {
  /** The text, each long string in it replaced by a name that no client can guess. */
  readonly text: Buffer;
  readonly spilled: ReadonlyMap<string, Spilled<T>>;
}

export class BodyTooLargeError extends Error {
  override readonly name = 'BodyTooLargeError';

  constructor(limit: number) {
    super(`request bigger than maximum ${limit} allowed`);
  }
}

export interface SpillOptions<T> {
  /** Of all of it. */
  readonly bytesMax: number;
  /** Takes the decoded bytes of a long string as they arrive; must read them to their end. */
  spill(bytes: AsyncIterable<Uint8Array>): Promise<T>;
}

/**
 * Reads a JSON text of any size and holds little of it: long strings, which are base64, go to
 * `spill` piece by piece. Whether the rest is JSON is for its reader to find.
 * @throws BodyTooLargeError, and what the source throws
 */
export async function readSpilling<T>(
  source: AsyncIterable<Uint8Array>,
  { bytesMax, spill }: SpillOptions<T>,
): Promise<SpilledText<T>> {
  const reader = new PieceReader(source, bytesMax);
  const kept = new KeptText();
  const spilled = new Map<string, Spilled<T>>();
  for (;;) {
    for (let inside = false; !inside; ) {
      const piece = await reader.outsidePiece();
      if (piece === undefined) return { text: kept.bytes(), spilled };
      kept.add(piece.bytes);
      inside = piece.atEnd;
    }
    const beginning: Uint8Array[] = [];
    let [length, atEnd] = [0, false];
    while (!atEnd && length <= LONG_STRING_CHARS) {
      const piece = await reader.stringPiece();
      beginning.push(piece.bytes);
      length += piece.bytes.length;
      atEnd = piece.atEnd;
    }
    if (length <= LONG_STRING_CHARS) {
      for (const piece of beginning) kept.add(piece);
    } else {
      if (spilled.size === SPILLED_MAX) throw new BodyTooLargeError(bytesMax);
      const name = randomUUID();
      spilled.set(name, await spillString({ beginning, atEnd }, reader, spill));
      kept.add(Buffer.from(name));
    }
    kept.add(CLOSING_QUOTE);
  }
}

async function spillString<T>(
  { beginning, atEnd }: { readonly beginning: readonly Uint8Array[]; readonly atEnd: boolean },
  reader: PieceReader,
  spill: SpillOptions<T>['spill'],
): Promise<Spilled<T>> {
  const rest = reader.restOfString(atEnd);
  async function* decoded(): AsyncGenerator<Uint8Array> {
    const decoder = new Base64Decoder();
    for (const piece of beginning) yield decoder.push(piece);
    for (;;) {
      const { done, value } = await rest.next();
      if (done) break;
      yield decoder.push(value);
    }
    decoder.end();
  }
  try {
    return { value: await spill(decoded()) };
  } catch (error) {
    if (reader.failed) throw error;
    // The text goes on after the string, whatever was in it.
    for await (const _ of rest);
    return { error };
  }
}

/** What is kept of a text, up to its limit. */
class KeptText {
  #buffer = Buffer.alloc(4 * KIB);
  #length = 0;

  add(piece: Uint8Array): void {
    const length = this.#length + piece.length;
    if (length > TEXT_BYTES_MAX) throw new BodyTooLargeError(TEXT_BYTES_MAX);
    if (length > this.#buffer.length) {
      this.#buffer = Buffer.concat([this.#buffer], Math.max(length, 2 * this.#buffer.length));
    }
    this.#buffer.set(piece, this.#length);
    this.#length = length;
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }
}

interface Piece {
  readonly bytes: Uint8Array;
  /** The string begins here, or ends here. */
  readonly atEnd: boolean;
}

/** Walks through a JSON text from string to string, a chunk at a time. */
class PieceReader {
  readonly #source: AsyncIterator<Uint8Array>;
  readonly #bytesMax: number;
  #chunk: Buffer = Buffer.alloc(0);
  #at = 0;
  #bytes = 0;
  /** The last piece ended in a backslash that escapes what comes next. */
  #escaped = false;
  /** The source has ended too early or is over its limit: there is nothing to go on with. */
  failed = false;

  constructor(source: AsyncIterable<Uint8Array>, bytesMax: number) {
    this.#source = source[Symbol.asyncIterator]();
    this.#bytesMax = bytesMax;
  }

  /**
   * Some of what stands outside of strings, with the quote of the next string if it comes to it;
   * undefined: the text is over.
   */
  async outsidePiece(): Promise<Piece | undefined> {
    if (!(await this.#fill())) return undefined;
    const quote = this.#chunk.indexOf(QUOTE, this.#at);
    return { bytes: this.#take(quote < 0 ? this.#chunk.length : quote + 1), atEnd: quote >= 0 };
  }

  /** Some of the string that the reader is in, as it stands there, without its last quote. */
  async stringPiece(): Promise<Piece> {
    // A string without an end: the text is none, as its reader will say.
    if (!(await this.#fill())) return { bytes: new Uint8Array(0), atEnd: true };
    const end = this.#endOfString();
    const bytes = this.#take(end ?? this.#chunk.length);
    if (end !== undefined) this.#at++;
    return { bytes, atEnd: end !== undefined };
  }

  /** @param ended whether the string has been read to its end */
  async *restOfString(ended: boolean): AsyncGenerator<Uint8Array> {
    while (!ended) {
      const piece = await this.stringPiece();
      yield piece.bytes;
      ended = piece.atEnd;
    }
  }

  #take(end: number): Uint8Array {
    const bytes = this.#chunk.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }

  /** Whether there is something to read. */
  async #fill(): Promise<boolean> {
    while (this.#at === this.#chunk.length) {
      const { done, value } = await this.#next();
      if (done === true) return false;
      this.#bytes += value.length;
      if (this.#bytes > this.#bytesMax) {
        this.failed = true;
        throw new BodyTooLargeError(this.#bytesMax);
      }
      this.#chunk = Buffer.from(value.buffer, value.byteOffset, value.length);
      this.#at = 0;
    }
    return true;
  }

  async #next(): Promise<IteratorResult<Uint8Array>> {
    try {
      return await this.#source.next();
    } catch (thrown) {
      this.failed = true;
      throw thrown;
    }
  }

  /** Where the string's last quote stands in this chunk; undefined: not in it. */
  #endOfString(): number | undefined {
    const chunk = this.#chunk;
    let at = this.#at + (this.#escaped ? 1 : 0);
    this.#escaped = false;
    let quote = chunk.indexOf(QUOTE, at);
    let backslash = chunk.indexOf(BACKSLASH, at);
    while (backslash >= 0 && (quote < 0 || backslash < quote)) {
      at = backslash + 2;
      if (at > chunk.length) this.#escaped = true;
      if (quote >= 0 && quote < at) quote = chunk.indexOf(QUOTE, at);
      backslash = chunk.indexOf(BACKSLASH, at);
    }
    return quote < 0 ? undefined : quote;
  }
}
