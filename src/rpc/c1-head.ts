import { toHex } from '../core/bytes.ts';
import { formatError } from '../core/errors.ts';
import { GIB, KIB } from '../core/units.ts';
import { readSpilling } from './lotus/json-spill.ts';

/** What the first phase of PoRep says beside its vanilla proofs; bytes as hex. */
export interface C1Head {
  readonly registeredProof: string;
  readonly commR: string;
  readonly commD: string;
  readonly ticket: string;
  readonly seed: string;
  /** Only the wrapper says it; decimal. */
  readonly sector?: string;
}

/** Of a text without its vanilla proofs: five arrays of 32 numbers and some names. */
const HEAD_BYTES_MAX = 8 * KIB;
/** Of a wrapper, as src/formats reads it. */
const WRAPPED_BYTES_MAX = GIB;

const [QUOTE, BACKSLASH, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('"\\{}') as unknown as readonly [
  ...[number, number, number, number],
];

/**
 * Reads the head of the output of PoRep's first phase as it goes by: rust-filecoin-proofs-api's
 * `SealCommitPhase1Output`, JSON of 40 MB whose other 99.99 % are vanilla proofs, its fields in any
 * order. The vanilla proofs are for the device host to read: here their brackets are counted.
 */
export class C1HeadScanner {
  readonly #head = Buffer.alloc(HEAD_BYTES_MAX);
  #length = 0;
  #depth = 0;
  #inString = false;
  #escaped = false;

  push(bytes: Uint8Array): void {
    if (this.#length > HEAD_BYTES_MAX) return;
    for (let i = 0; i < bytes.length; i++) {
      if (this.#depth > 1 && !this.#inString) i = endOfPlain(bytes, i);
      if (i < bytes.length) this.#take(bytes[i] as number);
    }
  }

  #take(byte: number): void {
    if (this.#inString) {
      if (this.#escaped) this.#escaped = false;
      else if (byte === BACKSLASH) this.#escaped = true;
      else if (byte === QUOTE) this.#inString = false;
    } else if (byte === QUOTE) this.#inString = true;
    else if (byte === CLOSE_OBJECT) this.#depth--;
    // Objects inside the outermost one are vanilla proofs: only their first bracket is kept.
    if (this.#depth <= 1) this.#head[this.#length++] = byte;
    if (byte === OPEN_OBJECT && !this.#inString) this.#depth++;
  }

  /** @throws ERR_FORMAT naming what is missing; no value is quoted */
  end(): C1Head {
    const fields = this.#parse();
    const registeredProof = fields.registered_proof;
    if (typeof registeredProof !== 'string') {
      throw formatError('C1: registered_proof', 'the name of a proof', 'something else');
    }
    return {
      registeredProof,
      commR: bytes32(fields, 'comm_r'),
      commD: bytes32(fields, 'comm_d'),
      ticket: bytes32(fields, 'ticket'),
      seed: bytes32(fields, 'seed'),
    };
  }

  #parse(): Readonly<Record<string, unknown>> {
    try {
      if (this.#length > HEAD_BYTES_MAX) throw new Error('too long');
      const parsed: unknown = JSON.parse(this.#head.toString('utf8', 0, this.#length));
      if (typeof parsed === 'object' && parsed !== null) return { ...parsed };
    } catch {
      // Told below.
    }
    throw formatError('C1', "the JSON of PoRep's first phase", 'other bytes');
  }
}

/** Where numbers and brackets of arrays end: at a string or at a bracket of an object. */
function endOfPlain(bytes: Uint8Array, start: number): number {
  let i = start;
  for (; i < bytes.length; i++) {
    const byte = bytes[i];
    if (byte === QUOTE || byte === OPEN_OBJECT || byte === CLOSE_OBJECT) break;
  }
  return i;
}

function bytes32(fields: Readonly<Record<string, unknown>>, name: string): string {
  const value = fields[name];
  const isByte = (item: unknown) => Number.isInteger(item) && (item as number) >> 8 === 0;
  if (Array.isArray(value) && value.length === 32 && value.every(isByte)) {
    return toHex(Uint8Array.from(value));
  }
  throw formatError(`C1: ${name}`, '32 bytes as numbers', 'something else');
}

/** Names that the wrapper of Lotus and Curio may begin with. */
const WRAPPER = /^\s*\{\s*"(SectorNum|Phase1Out|SectorSize)"/;

/**
 * The head of a C1 file, bare or in Lotus's wrapper `{SectorNum, Phase1Out, SectorSize}`, whose
 * Phase1Out is the bare one in base64. @throws ERR_FORMAT
 */
export async function readC1Head(source: AsyncIterable<Uint8Array>): Promise<C1Head> {
  const chunks = source[Symbol.asyncIterator]();
  const first = await chunks.next();
  const begin: Uint8Array = first.done === true ? new Uint8Array(0) : first.value;
  async function* all(): AsyncGenerator<Uint8Array> {
    yield begin;
    yield* { [Symbol.asyncIterator]: () => chunks };
  }
  if (!WRAPPER.test(Buffer.from(begin.subarray(0, 1024)).toString('latin1'))) {
    return await scan(all());
  }
  const { text, spilled } = await readSpilling(all(), { bytesMax: WRAPPED_BYTES_MAX, spill: scan });
  const { phase1Out, ...sector } = wrapperOf(text);
  const inner = spilled.get(phase1Out);
  if (inner === undefined)
    return { ...(await scan([Buffer.from(phase1Out, 'base64')])), ...sector };
  if ('error' in inner) throw inner.error;
  return { ...inner.value, ...sector };
}

async function scan(bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<C1Head> {
  const scanner = new C1HeadScanner();
  for await (const chunk of bytes) scanner.push(chunk);
  return scanner.end();
}

function wrapperOf(text: Buffer): { readonly phase1Out: string; readonly sector?: string } {
  try {
    const { Phase1Out, SectorNum } = JSON.parse(text.toString());
    if (typeof Phase1Out === 'string') {
      const isExact = Number.isSafeInteger(SectorNum) && SectorNum >= 0;
      return { phase1Out: Phase1Out, ...(isExact && { sector: String(SectorNum) }) };
    }
  } catch {
    // Told below.
  }
  throw formatError('C1: Phase1Out', 'base64 in JSON', 'something else');
}
