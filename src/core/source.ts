import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { formatError, ProverError } from './errors.ts';

/**
 * Random access to the bytes of a file or of memory. Readers of large formats take this and
 * offsets, so that no file is ever held whole.
 */
export interface ByteSource extends AsyncDisposable {
  /** What messages call it: a file's base name, never its folder. */
  readonly name: string;
  readonly size: number;
  /** Exactly `length` bytes. @throws ERR_FORMAT when the range does not lie inside the source. */
  read(offset: number, length: number): Promise<Uint8Array>;
}

/** A range of a file, for native code to map and for TypeScript to read. Offsets in bytes. */
export interface FileSlice {
  readonly path: string;
  readonly offset: number;
  readonly length: number;
}

export async function openFile(path: string, name = baseName(path)): Promise<ByteSource> {
  let handle: FileHandle;
  try {
    // Without O_NONBLOCK a pipe that nobody writes to would never open.
    handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (cause) {
    throw new ProverError('ERR_FILE', { path: name, reason: systemReason(cause) }, cause);
  }
  const stat = await handle.stat();
  if (!stat.isFile()) {
    await handle.close();
    throw new ProverError('ERR_FILE', {
      path: name,
      reason: 'expected a file, got something else',
    });
  }
  return {
    name,
    size: stat.size,
    async read(offset, length) {
      checkRange(name, stat.size, offset, length);
      const bytes = new Uint8Array(length);
      for (let done = 0; done < length; ) {
        const { bytesRead } = await handle.read(bytes, done, length - done, offset + done);
        if (bytesRead === 0)
          throw formatError(name, `${length} bytes at ${offset}`, 'a shorter file');
        done += bytesRead;
      }
      return bytes;
    },
    [Symbol.asyncDispose]: () => handle.close(),
  };
}

/** `bytes` is borrowed: reads return views of it. */
export function fromBytes(name: string, bytes: Uint8Array): ByteSource {
  return {
    name,
    size: bytes.length,
    async read(offset, length) {
      checkRange(name, bytes.length, offset, length);
      return bytes.subarray(offset, offset + length);
    },
    [Symbol.asyncDispose]: async () => {},
  };
}

function checkRange(name: string, size: number, offset: number, length: number): void {
  const inside =
    Number.isSafeInteger(offset) && Number.isSafeInteger(length) && offset >= 0 && length >= 0;
  if (!inside || offset + length > size) {
    throw formatError(name, `${length} bytes at offset ${offset}`, `a file of ${size} bytes`);
  }
}

function baseName(path: string): string {
  return path.split('/').at(-1) ?? path;
}

/** What the system said, for a person. */
export function systemReason(cause: unknown): string {
  const code = (cause as NodeJS.ErrnoException).code;
  if (code === 'ENOENT') return 'no such file';
  if (code === 'EACCES') return 'permission denied';
  if (code === 'ENOSPC') return 'no space left on the device';
  if (code === 'EROFS') return 'it may only be read';
  if (code === 'EISDIR') return 'expected a file, got a folder';
  return code ?? 'cannot be opened';
}
