import { assert } from '../core/assert.ts';
import { concatBytes } from '../core/bytes.ts';
import { MIB } from '../core/units.ts';

/** `count` records (points, coefficients) in order, cut into pieces of any size. */
export interface RecordStream {
  readonly count: number;
  readonly bytes: ByteStream;
}

export type ByteStream = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

/** The records' bytes. A wrong number of them is a bug of the writer that made them. */
export async function* recordBytes(
  records: RecordStream,
  recordLength: number,
): AsyncGenerator<Uint8Array> {
  yield* exactly(records.count * recordLength, records.bytes);
}

export async function* exactly(length: number, stream: ByteStream): AsyncGenerator<Uint8Array> {
  let left = length;
  for await (const part of stream) {
    left -= part.length;
    yield part;
  }
  assert(left === 0, `record stream: expected ${length} bytes, got ${length - left}`);
}

/** The same bytes in pieces of 1 MiB or so: small records do not cost a system call each. */
export async function* inLargePieces(stream: ByteStream): AsyncGenerator<Uint8Array> {
  let pending: Uint8Array[] = [];
  let length = 0;
  for await (const part of stream) {
    pending.push(part);
    length += part.length;
    if (length < MIB) continue;
    yield concatBytes(...pending);
    pending = [];
    length = 0;
  }
  if (length > 0) yield concatBytes(...pending);
}
