import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { copyFile, open, rm, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ProverError } from '../core/errors.ts';
import { chunksOf, digestFile } from '../host/digest.ts';

/**
 * Copies a file, without taking space where the file system can, and to disk.
 * @param read hears of each chunk that was copied or read back
 * @returns the SHA-256 of the copy, hex
 * @throws ERR_FILE of the source, ERR_STORAGE where there is too little room
 */
export async function copyHashed(
  { path: from, bytes }: { readonly path: string; readonly bytes: number },
  to: string,
  signal: AbortSignal,
  read: (bytes: number) => void,
): Promise<string> {
  if (await cloned(from, to)) return digestFile(to, signal, read);
  await checkRoom(dirname(to), bytes);
  const hash = createHash('sha256');
  const file = await open(to, 'wx', 0o600);
  try {
    for await (const chunk of chunksOf(from, signal)) {
      hash.update(chunk);
      await file.writeFile(chunk);
      read(chunk.length);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return hash.digest('hex');
}

async function cloned(from: string, to: string): Promise<boolean> {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE_FORCE);
    return true;
  } catch {
    await rm(to, { force: true });
    return false;
  }
}

async function checkRoom(folder: string, bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(folder);
  const free = bavail * bsize;
  if (bytes <= free) return;
  const reason = `${bytes} bytes are needed, ${free} are free`;
  throw new ProverError('ERR_STORAGE', { subject: 'keys', action: 'write', reason });
}
