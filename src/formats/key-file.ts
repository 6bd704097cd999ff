import { toHex } from '../core/bytes.ts';
import { formatError } from '../core/errors.ts';
import { openFile } from '../core/source.ts';
import { type ReadOptions, readParameters } from './bellman.ts';
import { readZkey, type Zkey } from './zkey.ts';

const ZKEY_MAGIC = '7a6b6579';
/** The first byte of BLS12-381's q: no coordinate begins with a larger one. */
const COORDINATE_FIRST_BYTE_MAX = 0x1a;

/**
 * Opens a proving key of either format, told apart by its first bytes, and closes the file again:
 * what comes back holds paths and offsets. @throws ERR_FORMAT, ERR_FILE
 */
export async function openKey(path: string, options: ReadOptions = {}): Promise<Zkey> {
  await using source = await openFile(path);
  const magic = await source.read(0, Math.min(4, source.size));
  if (toHex(magic) === ZKEY_MAGIC) return await readZkey(source, path);
  if (magic.length < 4 || (magic[0] as number) > COORDINATE_FIRST_BYTE_MAX) {
    throw formatError(source.name, 'a zkey or bellman parameters', 'another file');
  }
  return { key: await readParameters(source, path, options) };
}
