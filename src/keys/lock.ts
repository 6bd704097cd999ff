import { access, constants, mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'libsql';

const RETRY_MS = 100;

/**
 * Runs `work` while no other process (or call) does so with the same path; waits for its turn.
 * The lock is SQLite's on a file of that path: it is gone with its process, however that ends, and
 * holds between containers that share the folder.
 */
export async function alone<T>(
  path: string,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await access(dirname(path), constants.W_OK);
  const database = new Database(path);
  try {
    while (!locks(database)) await sleep(RETRY_MS, undefined, { signal });
    return await work();
  } finally {
    database.close();
  }
}

function locks(database: Database.Database): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE');
    return true;
  } catch (cause) {
    if ((cause as { code?: string }).code === 'SQLITE_BUSY') return false;
    throw cause;
  }
}
