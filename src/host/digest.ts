import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { ProverError } from '../core/errors.ts';
import { systemReason } from '../core/source.ts';
import { MIB } from '../core/units.ts';

/** A file's pieces are hashed by themselves too, so that damage can be located. */
export const PIECE_BYTES = 64 * MIB;
const READ_BYTES = 4 * MIB;

export interface FileDigests {
  /** SHA-256, hex. */
  readonly sha256: string;
  /** First 16 bytes of BLAKE2b-512, hex: what Filecoin publishes of its parameter files. */
  readonly blake2b: string;
  /** SHA-256 of each piece of PIECE_BYTES, hex. */
  readonly pieces: readonly string[];
}

/** SHA-256 of a file, hex, read in pieces. @throws ERR_FILE */
export async function digestFile(path: string, signal: AbortSignal): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of chunksOf(path, signal)) hash.update(chunk);
  return hash.digest('hex');
}

/** Every digest of a file, in one pass. @throws ERR_FILE */
export async function digestsOfFile(
  path: string,
  signal: AbortSignal,
  progress: (share: number) => void,
): Promise<FileDigests> {
  const [whole, blake] = [createHash('sha256'), createHash('blake2b512')];
  const pieces: string[] = [];
  let piece = createHash('sha256');
  let done = 0;
  const { size } = await stat(path);
  for await (const chunk of chunksOf(path, signal)) {
    for (const hash of [whole, blake, piece]) hash.update(chunk);
    done += chunk.length;
    // Chunks divide pieces: a piece ends only where a chunk does.
    if (done % PIECE_BYTES === 0 || done === size) {
      pieces.push(piece.digest('hex'));
      piece = createHash('sha256');
    }
    progress(done / size);
  }
  return {
    sha256: whole.digest('hex'),
    blake2b: blake.digest('hex').slice(0, 32),
    pieces,
  };
}

async function* chunksOf(path: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(path, { highWaterMark: READ_BYTES, signal });
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw new ProverError('ERR_FILE', { path: basename(path), reason: systemReason(cause) }, cause);
  }
}
