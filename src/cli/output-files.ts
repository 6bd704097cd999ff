import { randomUUID } from 'node:crypto';
import { access, constants, open, realpath, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { ProverError } from '../core/errors.ts';

export interface OutputFile {
  readonly path: string;
  readonly content: string | Uint8Array;
}

/** Before long work: whether the file could be written after it. @throws ERR_FILE, ERR_PARAMS */
export async function checkWritable(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    const target = await targetOf(path);
    await access(target.replace ? dirname(target.path) : target.path, constants.W_OK).catch(
      (cause) => {
        throw fileError(path, cause);
      },
    );
  }
  const places = paths.map((path) => resolve(path));
  const twice = paths.find((_, i) => places.indexOf(places[i] as string) !== i);
  if (twice !== undefined) {
    throw new ProverError('ERR_PARAMS', {
      subject: 'output files',
      expected: 'different paths',
      actual: `${twice} twice`,
    });
  }
}

/**
 * Writes files so that each is, at every moment, the old one or the new one: beside it, to disk,
 * then renamed. The first is renamed once all are on disk. What is no ordinary file (a pipe, a
 * device) is written as it is.
 * @throws ERR_FILE
 */
export async function writeFiles(files: readonly OutputFile[]): Promise<void> {
  const partials: { readonly path: string; readonly from: string; readonly to: string }[] = [];
  try {
    for (const { path, content } of files) {
      const target = await targetOf(path);
      if (!target.replace) {
        // Without O_NONBLOCK a pipe that nobody reads from would never open.
        const flag = constants.O_WRONLY | constants.O_NONBLOCK;
        await naming(path, writeFile(target.path, content, { flag }));
        continue;
      }
      const from = `${target.path}.${randomUUID()}.partial`;
      partials.push({ path, from, to: target.path });
      await naming(path, writeToDisk(from, content));
    }
    for (const { path, from, to } of partials) await naming(path, rename(from, to));
  } finally {
    for (const { from } of partials) await rm(from, { force: true });
  }
}

/** Where a path leads, and whether what is there may be replaced: an ordinary file or nothing. */
async function targetOf(path: string): Promise<{ path: string; replace: boolean }> {
  const found = await stat(path).catch(() => undefined);
  if (found?.isDirectory() === true) {
    throw new ProverError('ERR_FILE', { path, reason: 'expected a file, got a folder' });
  }
  if (found === undefined) return { path, replace: true };
  const real = await realpath(path);
  return { path: real, replace: found.isFile() };
}

async function writeToDisk(path: string, content: OutputFile['content']): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await file.writeFile(content);
    await file.sync();
  } finally {
    await file.close();
  }
}

async function naming<T>(path: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw fileError(path, cause);
  }
}

function fileError(path: string, cause: unknown): ProverError {
  const { code } = cause as NodeJS.ErrnoException;
  const reason =
    code === 'ENOENT'
      ? 'no such folder'
      : code === 'EACCES' || code === 'EROFS'
        ? 'expected a writable folder, got one that is not'
        : (code ?? 'cannot be written');
  return new ProverError('ERR_FILE', { path, reason }, cause);
}
