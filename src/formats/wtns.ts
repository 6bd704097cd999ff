import { readBigIntLE, viewOf, writeBigIntLE } from '../core/bytes.ts';
import { formatError } from '../core/errors.ts';
import type { ByteSource } from '../core/source.ts';
import { type CurveName, curveByModuli, curveOf } from '../math/curve.ts';
import { Pacer } from '../math/pacer.ts';
import { ByteReader } from './byte-reader.ts';
import { type RecordStream, recordBytes } from './byte-stream.ts';
import { readContainer, readSmallSection, requireSection, writeContainer } from './container.ts';

/** Where a `.wtns` file holds its values: `count` of 32 bytes, little-endian, from `offset` on. */
export interface Wtns {
  readonly curve: CurveName;
  /** Wires: the constant 1, public outputs, public inputs, then the private ones. */
  readonly count: number;
  readonly offset: number;
}

const VERSION = 2;
const SCALAR_BYTES = 32;
/** u32 n8, the modulus, u32 count. */
const HEADER_BYTES = 4 + SCALAR_BYTES + 4;
/** 2 MiB a read. */
const VALUES_A_CHUNK = 65_536;

/**
 * Checks sizes, field and the constant 1; the other values are for `checkCanonical`.
 * @throws ERR_FORMAT
 */
export async function readWtns(source: ByteSource): Promise<Wtns> {
  const container = await readContainer(source, 'wtns', VERSION);
  const subject = `${source.name}: header`;
  const header = new ByteReader(subject, await readSmallSection(container, 1, HEADER_BYTES));
  const curve = curveByModuli(undefined, header.modulus());
  if (curve === undefined) {
    throw formatError(`${subject}: field`, 'the scalars of BN254 or BLS12-381', 'another field');
  }
  const count = header.u32();
  header.end();
  if (count === 0) throw formatError(`${subject}: count`, 'at least 1 value', 0);
  const { offset } = requireSection(container, 2, count * SCALAR_BYTES);
  const one = readBigIntLE(await source.read(offset, SCALAR_BYTES));
  if (one !== 1n) throw formatError(`${source.name}: value 0`, 'the constant 1', 'another value');
  return { curve: curve.name, count, offset };
}

/**
 * Reads every value once.
 * @throws ERR_FORMAT for one that is not below the modulus, ERR_CANCELLED
 */
export async function checkCanonical(
  source: ByteSource,
  { curve, count, offset }: Wtns,
  signal: AbortSignal = new AbortController().signal,
): Promise<void> {
  const { r } = curveOf(curve);
  const pacer = new Pacer(signal);
  const topOfModulus = Number(r >> 224n);
  for (let first = 0; first < count; first += VALUES_A_CHUNK) {
    const n = Math.min(VALUES_A_CHUNK, count - first);
    const bytes = await source.read(offset + first * SCALAR_BYTES, n * SCALAR_BYTES);
    const view = viewOf(bytes);
    for (let i = 0; i < n; i++) {
      if (view.getUint32(i * SCALAR_BYTES + 28, true) < topOfModulus) continue;
      if (readBigIntLE(bytes.subarray(i * SCALAR_BYTES, (i + 1) * SCALAR_BYTES)) < r) continue;
      const subject = `${source.name}: value ${first + i}`;
      throw formatError(subject, 'a number below the modulus', 'a larger one');
    }
    await pacer.pause();
  }
}

/** The bytes of a `.wtns` file with these values of 32 bytes each, canonical little-endian. */
export function writeWtns(curve: CurveName, values: RecordStream): AsyncGenerator<Uint8Array> {
  const header = new Uint8Array(HEADER_BYTES);
  viewOf(header).setUint32(0, SCALAR_BYTES, true);
  header.set(writeBigIntLE(curveOf(curve).r, SCALAR_BYTES), 4);
  viewOf(header).setUint32(4 + SCALAR_BYTES, values.count, true);
  return writeContainer('wtns', VERSION, [
    { id: 1, length: HEADER_BYTES, bytes: [header] },
    { id: 2, length: values.count * SCALAR_BYTES, bytes: recordBytes(values, SCALAR_BYTES) },
  ]);
}
