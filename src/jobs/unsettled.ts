import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import Database from 'libsql';
import { storageError } from './database.ts';

/**
 * How many jobs of a database wait for a key or prove with it; also while a service has it open.
 * @throws ERR_STORAGE
 */
export function unsettledJobs(databasePath: string, keyDigest: string): number {
  if (!existsSync(databasePath)) return 0;
  let database: Database.Database | undefined;
  try {
    database = new Database(databasePath);
    database.exec('PRAGMA query_only = ON');
    const sql = `SELECT count(*) AS n FROM jobs
      WHERE key_digest = ? AND state IN ('queued', 'running')`;
    return (database.prepare(sql).get(keyDigest) as { n: number }).n;
  } catch (thrown) {
    throw storageError('read', basename(databasePath), thrown);
  } finally {
    database?.close();
  }
}
