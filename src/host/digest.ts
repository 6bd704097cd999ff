import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { ProverError } from '../core/errors.ts';
import { MIB } from '../core/units.ts';

/** SHA-256 of a file, hex, read in pieces. */
export async function digestFile(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 4 * MIB, signal })) {
      hash.update(chunk);
    }
  } catch (cause) {
    if (signal.aborted) throw cause;
    const reason = (cause as NodeJS.ErrnoException).code ?? 'cannot be read';
    throw new ProverError('ERR_FILE', { path: basename(path), reason }, cause);
  }
  return hash.digest('hex');
}
