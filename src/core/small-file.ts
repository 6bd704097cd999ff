import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { ProverError } from './errors.ts';
import { systemReason } from './source.ts';

/**
 * The bytes of a file that is small, read at once. Pipes and devices are refused, and not waited
 * for.
 * @param name what messages call it
 * @throws ERR_FILE, its cause that of the system; ERR_TOO_LARGE
 */
export function readSmallFile(path: string, limit: number, name = path): Buffer {
  const file = openNow(path, name);
  try {
    const info = fstatSync(file);
    if (!info.isFile()) {
      const reason = `expected a file, got ${info.isDirectory() ? 'a folder' : 'something else'}`;
      throw new ProverError('ERR_FILE', { path: name, reason });
    }
    if (info.size > limit) throw new ProverError('ERR_TOO_LARGE', { subject: name, limit });
    const bytes = Buffer.alloc(info.size);
    let done = 0;
    for (let read = -1; read !== 0 && done < bytes.length; done += read) {
      read = readSync(file, bytes, done, bytes.length - done, done);
    }
    return bytes.subarray(0, done);
  } finally {
    closeSync(file);
  }
}

function openNow(path: string, name: string): number {
  try {
    // Without O_NONBLOCK a pipe that nobody writes to would never open.
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    throw new ProverError('ERR_FILE', { path: name, reason: systemReason(cause) }, cause);
  }
}
