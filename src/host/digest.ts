import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { basename } from 'node:path';
import { crc32 } from 'node:zlib';
import { ProverError } from '../core/errors.ts';
import { openFile, systemReason } from '../core/source.ts';
import { MIB } from '../core/units.ts';

const READ_BYTES = 4 * MIB;

export interface FileDigests {
  /** SHA-256, hex. */
  readonly sha256: string;
  /** First 16 bytes of BLAKE2b-512, hex: what Filecoin publishes of its parameter files. */
  readonly blake2b: string;
  /** CRC-32 of each piece. */
  readonly crcs: readonly number[];
}

/** SHA-256 of a file, hex, read in chunks. @throws ERR_FILE */
export async function digestFile(
  path: string,
  signal: AbortSignal,
  read: (bytes: number) => void = () => {},
): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of chunksOf(path, signal)) {
    hash.update(chunk);
    read(chunk.length);
  }
  return hash.digest('hex');
}

/** What was stored under a digest may have been damaged since. @throws ERR_PAYLOAD_CORRUPT */
export async function checkDigest(
  path: string,
  sha256: string,
  signal: AbortSignal,
): Promise<void> {
  const actual = await digestFile(path, signal);
  if (actual !== sha256) throw new ProverError('ERR_PAYLOAD_CORRUPT', { sha256, actual });
}

/**
 * Every digest of a file, in one pass.
 * @param ends of the pieces, ascending; what lies after the last one belongs to no piece
 * @throws ERR_FILE
 */
export async function digestsOfFile(
  path: string,
  ends: readonly number[],
  signal: AbortSignal,
  progress: (share: number) => void,
): Promise<FileDigests> {
  const [whole, blake] = [createHash('sha256'), createHash('blake2b512')];
  const crcs = ends.map(() => 0);
  const bytes = ends.at(-1) ?? 0;
  let [at, piece] = [0, 0];
  for await (const chunk of chunksOf(path, signal)) {
    whole.update(chunk);
    blake.update(chunk);
    for (let done = 0; done < chunk.length && piece < ends.length; ) {
      const end = Math.min(chunk.length, (ends[piece] as number) - at);
      crcs[piece] = crc32(chunk.subarray(done, end), crcs[piece]);
      done = end;
      if (at + end === ends[piece]) piece++;
    }
    at += chunk.length;
    progress(Math.min(1, at / bytes));
  }
  return { sha256: whole.digest('hex'), blake2b: blake.digest('hex').slice(0, 32), crcs };
}

/** A file from front to back. @throws ERR_FILE; what the signal aborts rejects as it may */
export async function* chunksOf(path: string, signal: AbortSignal): AsyncGenerator<Buffer> {
  // Refuses what is no file: a pipe, or a device without an end.
  await (await openFile(path))[Symbol.asyncDispose]();
  try {
    yield* createReadStream(path, { highWaterMark: READ_BYTES, signal });
  } catch (cause) {
    if (signal.aborted) throw cause;
    throw new ProverError('ERR_FILE', { path: basename(path), reason: systemReason(cause) }, cause);
  }
}
