import { type ByteSource, fromBytes } from '../../src/core/source.ts';
import { MIB } from '../../src/core/units.ts';

/** Nothing of a file but its points and values is large, and those are read in pieces. */
const READ_BYTES_MAX = 64 * MIB;
/** A case ends once so much has been read of it: what follows is more of the same. */
const TOTAL_BYTES_MAX = 16 * MIB;

/** Ends a case that has read its share; no error. */
export class Enough extends Error {}

/** The bytes, and zeros after them up to `size`, as of a large file that is not there. */
export function padded(bytes: Uint8Array, size: number): ByteSource {
  const inner = fromBytes('input', bytes);
  let total = 0;
  return {
    name: 'input',
    size,
    async read(offset, length) {
      if (offset + length <= bytes.length || !(offset + length <= size)) {
        return inner.read(offset, length);
      }
      if (length > READ_BYTES_MAX) throw new Error(`read ${length} bytes at once`);
      total += length;
      if (total > TOTAL_BYTES_MAX) throw new Enough();
      const result = new Uint8Array(length);
      if (offset < bytes.length) result.set(bytes.subarray(offset));
      return result;
    },
    [Symbol.asyncDispose]: async () => {},
  };
}
