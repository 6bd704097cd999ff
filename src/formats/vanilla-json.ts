import { concatBytes } from '../core/bytes.ts';
import { formatError } from '../core/errors.ts';
import type { ByteSource } from '../core/source.ts';
import { KIB, MIB } from '../core/units.ts';
import { checkInteger, checkScalar } from './bincode.ts';
import { Place, type Schema, type SchemaNode } from './vanilla-schema.ts';

/** What a file is read by. */
const CHUNK_BYTES = MIB;
/** At hand before a value is read: the most that one of 32 bytes may take with its spaces. */
const LOOKAHEAD_BYTES = 16 * KIB;
const VALUE_BYTES = 32;
/** Of a u64. */
const DIGITS_MAX = 20;
const BYTE_DIGITS_MAX = 3;
const NAME_BYTES_MAX = 256;

const [SPACE, TAB, LINE, RETURN] = Buffer.from(' \t\n\r') as unknown as Bytes4;
const [QUOTE, BACKSLASH, ZERO, NINE] = Buffer.from('"\\09') as unknown as Bytes4;
const [OPEN, CLOSE, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('[]{}') as unknown as Bytes4;
const COMMA = ','.charCodeAt(0);
type Bytes4 = readonly [number, number, number, number];

export async function* chunksOf(source: ByteSource): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < source.size; at += CHUNK_BYTES) {
    yield await source.read(at, Math.min(CHUNK_BYTES, source.size - at));
  }
}

/**
 * JSON read from front to back as a schema says, in bounded memory.
 * @throws ERR_FORMAT that names the file and the place in it; values are never quoted
 */
export class JsonReader {
  readonly #place: Place;
  readonly #chunks: AsyncIterator<Uint8Array>;
  #buffer: Uint8Array = new Uint8Array(0);
  #at = 0;
  #ended = false;

  constructor(file: string, chunks: AsyncIterable<Uint8Array>) {
    this.#place = new Place(file);
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  async decode<T>(schema: Schema<T>): Promise<T> {
    return (await this.#value(schema.node)) as T;
  }

  /** An object. @param field reads the value of a name @returns the names */
  async object(field: (name: string) => Promise<void>): Promise<ReadonlySet<string>> {
    const names = new Set<string>();
    await this.#fill();
    this.#expect('{');
    for (let more = !this.#skips('}'); more; more = !this.#ends('}')) {
      await this.#fill();
      const name = this.#text();
      if (names.has(name)) throw this.error(`"${name}" once`, 'twice');
      names.add(name);
      this.#expect(':');
      await this.#inside(name, () => field(name));
    }
    return names;
  }

  /** An array. @param item reads one of its values @returns how many it has */
  async array(name: string, item: (index: number) => Promise<void>): Promise<number> {
    let count = 0;
    await this.#fill();
    this.#expect('[');
    for (let more = !this.#skips(']'); more; more = !this.#ends(']')) {
      await this.#inside(`${name} ${count}`, () => item(count));
      count++;
      await this.#fill();
    }
    return count;
  }

  /** A short text without escapes. */
  async text(): Promise<string> {
    await this.#fill();
    return this.#text();
  }

  /** The bytes of a text without escapes, in pieces: it may be too long to hold. */
  async *longText(): AsyncGenerator<Uint8Array> {
    await this.#fill();
    this.#expect('"');
    for (let more = true; more; ) {
      await this.#fill();
      const rest = this.#buffer.subarray(this.#at);
      const end = rest.indexOf(QUOTE);
      const piece = end < 0 ? rest : rest.subarray(0, end);
      if (piece.includes(BACKSLASH)) throw this.error('a text without escapes', 'an escape');
      if (rest.length === 0) throw this.error('more of the text', 'the end of the file');
      this.#at += piece.length;
      more = end < 0;
      yield piece;
    }
    this.#expect('"');
  }

  /** An array or object at whose values nobody looks. */
  async skip(): Promise<void> {
    await this.#fill();
    this.#skipSpaces();
    let depth = 0;
    let isText = false;
    do {
      await this.#fill();
      const buffer = this.#buffer;
      let at = this.#at;
      if (at === buffer.length) throw this.error('more', 'the end of the file');
      do {
        const byte = buffer[at++];
        if (byte === QUOTE) isText = !isText;
        else if (isText) continue;
        else if (byte === OPEN || byte === OPEN_OBJECT) depth++;
        else if (byte === CLOSE || byte === CLOSE_OBJECT) depth--;
      } while (depth > 0 && at < buffer.length);
      this.#at = at;
    } while (depth > 0);
  }

  /** Only white space may follow. */
  async end(): Promise<void> {
    await this.#fill();
    this.#skipSpaces();
    if (this.#at < this.#buffer.length) throw this.error('the end of the file', 'more');
  }

  error(expected: string, actual: string | number) {
    return formatError(`${this.#place}`, expected, actual);
  }

  async #value(node: SchemaNode): Promise<unknown> {
    switch (node.kind) {
      case 'list':
        return await this.#list(node);
      case 'struct':
        return await this.#struct(node.fields);
      case 'variant':
        return (await this.#struct([node]))[node.name];
      case 'mapped':
        return node.convert((await this.#value(node.node)) as never);
      default:
        await this.#fill();
        return this.#leaf(node);
    }
  }

  #leaf(node: Exclude<SchemaNode, { kind: 'list' | 'struct' | 'variant' | 'mapped' }>): unknown {
    switch (node.kind) {
      case 'scalar':
        return checkScalar(this.#place, this.#bytes32());
      case 'bytes32':
        return this.#bytes32();
      case 'null':
        for (const letter of 'null') this.#expect(letter);
        return null;
      default:
        return checkInteger(this.#place, this.#integer(), node.limit);
    }
  }

  async #list({ item, length, name }: Extract<SchemaNode, { kind: 'list' }>): Promise<unknown[]> {
    const items: unknown[] = [];
    const count = await this.array(name, async (index) => {
      if (index >= length) throw this.error(`${length} of them`, 'more');
      items.push(await this.#value(item));
    });
    if (count < length) throw this.error(`${length} (${name})`, count);
    return items;
  }

  async #struct(
    fields: readonly { readonly name: string; readonly node: SchemaNode }[],
  ): Promise<Record<string, unknown>> {
    const values: Record<string, unknown> = {};
    const names = await this.object(async (name) => {
      const field = fields.find((each) => each.name === name);
      if (field === undefined) {
        throw this.error(`a field ${fields.map((each) => each.name).join(' or ')}`, 'another');
      }
      values[name] = await this.#value(field.node);
    });
    const missing = fields.find(({ name }) => !names.has(name));
    if (missing !== undefined) throw this.error(`a field ${missing.name}`, 'none');
    return values;
  }

  async #inside(part: string, work: () => Promise<void>): Promise<void> {
    this.#place.enter(part);
    await work();
    this.#place.leave();
  }

  /** Reads on until enough is at hand for a value. */
  async #fill(): Promise<void> {
    while (!this.#ended && this.#buffer.length - this.#at < LOOKAHEAD_BYTES) {
      const { value, done } = await this.#chunks.next();
      if (done === true) this.#ended = true;
      else {
        this.#buffer = concatBytes(this.#buffer.subarray(this.#at), value);
        this.#at = 0;
      }
    }
  }

  #bytes32(): Uint8Array {
    const bytes = new Uint8Array(VALUE_BYTES);
    if (this.#plainBytes32(bytes)) return bytes;
    this.#expect('[');
    for (let i = 0; i < VALUE_BYTES; i++) {
      if (i > 0) this.#expect(',');
      const byte = Number(this.#digits(BYTE_DIGITS_MAX));
      if (byte > 255) throw this.error('32 numbers up to 255', 'a larger one');
      bytes[i] = byte;
    }
    this.#expect(']');
    return bytes;
  }

  /** Nearly all of a file are such values without spaces. @returns false: nothing was read */
  #plainBytes32(bytes: Uint8Array): boolean {
    const buffer = this.#buffer;
    let at = this.#at;
    if (buffer[at++] !== OPEN) return false;
    for (let i = 0; i < VALUE_BYTES; i++) {
      const start = at;
      let byte = 0;
      let code = buffer[at] ?? 0;
      while (code >= ZERO && code <= NINE && byte < 256) {
        byte = 10 * byte + code - ZERO;
        code = buffer[++at] ?? 0;
      }
      const digits = at - start;
      const isWhole = digits > 0 && digits <= BYTE_DIGITS_MAX && byte < 256;
      if (!isWhole || code !== (i < VALUE_BYTES - 1 ? COMMA : CLOSE)) return false;
      bytes[i] = byte;
      at++;
    }
    this.#at = at;
    return true;
  }

  #integer(): bigint {
    return BigInt(this.#digits(DIGITS_MAX));
  }

  #digits(max: number): string {
    this.#skipSpaces();
    const start = this.#at;
    for (let code = this.#peek(); code >= ZERO && code <= NINE; code = this.#peek()) {
      this.#at++;
      if (this.#at - start > max) throw this.error(`a number of at most ${max} digits`, 'more');
    }
    if (this.#at === start) throw this.error('a number', 'something else');
    return Buffer.from(this.#buffer.subarray(start, this.#at)).toString('latin1');
  }

  #text(): string {
    this.#expect('"');
    const end = this.#buffer.indexOf(QUOTE, this.#at);
    if (end < 0 || end - this.#at > NAME_BYTES_MAX) {
      throw this.error(`a text of at most ${NAME_BYTES_MAX} bytes`, 'a longer one');
    }
    const bytes = this.#buffer.subarray(this.#at, end);
    if (bytes.includes(BACKSLASH)) throw this.error('a text without escapes', 'an escape');
    this.#at = end + 1;
    return Buffer.from(bytes).toString();
  }

  #expect(text: string): void {
    if (!this.#skips(text)) throw this.error(`"${text}"`, 'something else');
  }

  /** Whether the next character is this one; then it is read. */
  #skips(character: string): boolean {
    this.#skipSpaces();
    if (this.#peek() !== character.charCodeAt(0)) return false;
    this.#at++;
    return true;
  }

  /** After a value of an object or array: whether it was the last. */
  #ends(bracket: string): boolean {
    if (this.#skips(bracket)) return true;
    if (!this.#skips(',')) throw this.error(`"," or "${bracket}"`, 'something else');
    return false;
  }

  #skipSpaces(): void {
    while (isSpace(this.#peek())) this.#at++;
  }

  /** The next byte; -1 at the end. */
  #peek(): number {
    const byte = this.#buffer[this.#at];
    if (byte !== undefined) return byte;
    if (this.#ended) return -1;
    throw this.error(`a value of at most ${LOOKAHEAD_BYTES} bytes`, 'a longer one');
  }
}

function isSpace(byte: number): boolean {
  return byte === SPACE || byte === LINE || byte === RETURN || byte === TAB;
}
