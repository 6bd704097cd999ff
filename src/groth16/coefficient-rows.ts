import { readBigIntLE, viewOf, writeBigIntLE } from '../core/bytes.ts';
import { formatError } from '../core/errors.ts';
import type { ByteSource } from '../core/source.ts';
import { type CurveName, curveOf } from '../math/curve.ts';
import type { ProvingKeySource } from './types.ts';

/** One entry of A or B. `value` is canonical, below r. */
export interface Coefficient {
  readonly matrix: 'A' | 'B';
  readonly row: number;
  readonly wire: number;
  readonly value: bigint;
}

/** u32 matrix, u32 row, u32 wire, 32-byte value. */
export const COEFFICIENT_BYTES = 44;
/** 720 KB a read. */
const RECORDS_A_CHUNK = 16_384;

/**
 * The key's entries of A and B in the order of the file, chunk by chunk; nothing where it has none.
 * @throws ERR_FORMAT for a matrix, row or wire the key does not have, or a value of r or more
 */
export async function* readCoefficients(
  source: ByteSource,
  key: ProvingKeySource,
): AsyncGenerator<readonly Coefficient[]> {
  const { slice, count } = key.rows ?? { slice: { offset: 0 }, count: 0 };
  for (let first = 0; first < count; first += RECORDS_A_CHUNK) {
    const n = Math.min(RECORDS_A_CHUNK, count - first);
    const bytes = await source.read(
      slice.offset + first * COEFFICIENT_BYTES,
      n * COEFFICIENT_BYTES,
    );
    yield parseChunk(`${source.name}: coefficient`, first, bytes, key);
  }
}

function parseChunk(
  subject: string,
  first: number,
  bytes: Uint8Array,
  key: ProvingKeySource,
): Coefficient[] {
  const view = viewOf(bytes);
  const rows = 2 ** key.logN;
  const wires = key.inputCount + key.auxCount;
  const decode = valueDecoder(key.curve);
  return Array.from({ length: bytes.length / COEFFICIENT_BYTES }, (_, i) => {
    const at = i * COEFFICIENT_BYTES;
    const matrix = view.getUint32(at, true);
    const row = view.getUint32(at + 4, true);
    const wire = view.getUint32(at + 8, true);
    const value = decode(bytes.subarray(at + 12, at + COEFFICIENT_BYTES));
    if (matrix > 1) throw formatError(`${subject} ${first + i}: matrix`, '0 or 1', matrix);
    if (row >= rows) throw formatError(`${subject} ${first + i}: row`, `below ${rows}`, row);
    if (wire >= wires) throw formatError(`${subject} ${first + i}: wire`, `below ${wires}`, wire);
    if (value === undefined) {
      throw formatError(`${subject} ${first + i}: value`, 'below r', 'a larger number');
    }
    return { matrix: matrix === 0 ? 'A' : 'B', row, wire, value };
  });
}

/** The record of `coefficient` in a zkey. */
export function writeCoefficient(curve: CurveName, coefficient: Coefficient): Uint8Array {
  const { r } = curveOf(curve);
  const bytes = new Uint8Array(COEFFICIENT_BYTES);
  const view = viewOf(bytes);
  view.setUint32(0, coefficient.matrix === 'A' ? 0 : 1, true);
  view.setUint32(4, coefficient.row, true);
  view.setUint32(8, coefficient.wire, true);
  bytes.set(writeBigIntLE((coefficient.value << 512n) % r, 32), 12);
  return bytes;
}

/** From v·R² mod r, R = 2^256, to v; undefined for bytes that are not below r. */
function valueDecoder(curve: CurveName): (bytes: Uint8Array) => bigint | undefined {
  const { r, noble } = curveOf(curve);
  const inverse = noble.fields.Fr.inv(2n ** 512n % r);
  return (bytes) => {
    const value = readBigIntLE(bytes);
    return value < r ? (value * inverse) % r : undefined;
  };
}
