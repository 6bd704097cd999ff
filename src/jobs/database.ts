import { accessSync, constants, mkdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import Database from 'libsql';
import { ProverError } from '../core/errors.ts';

/** Each brings a database to the next version; one that has been released never changes. */
const MIGRATIONS: readonly string[] = [
  `CREATE TABLE jobs (
     sequence INTEGER PRIMARY KEY AUTOINCREMENT,
     id TEXT NOT NULL UNIQUE,
     state TEXT NOT NULL,
     request TEXT NOT NULL,
     key TEXT NOT NULL,
     key_digest TEXT NOT NULL,
     payload TEXT NOT NULL,
     idempotency_key TEXT UNIQUE,
     fingerprint TEXT NOT NULL,
     submitted_at INTEGER NOT NULL,
     started_at INTEGER,
     ended_at INTEGER,
     attempts INTEGER NOT NULL DEFAULT 0,
     crashes INTEGER NOT NULL DEFAULT 0,
     trace_id TEXT NOT NULL,
     parent_span_id TEXT,
     outcome TEXT,
     error TEXT,
     events TEXT
   ) STRICT;
   CREATE INDEX jobs_by_state ON jobs (state, sequence);
   CREATE INDEX jobs_by_payload ON jobs (payload, state);`,
  `CREATE TABLE worker_calls (
     id TEXT PRIMARY KEY,
     miner INTEGER NOT NULL,
     sector INTEGER NOT NULL,
     return_method TEXT NOT NULL,
     request TEXT NOT NULL,
     result TEXT
   ) STRICT;`,
  `CREATE TABLE job_payloads (
     sha256 TEXT NOT NULL,
     sequence INTEGER NOT NULL,
     PRIMARY KEY (sha256, sequence)
   ) STRICT, WITHOUT ROWID;
   INSERT INTO job_payloads SELECT payload, sequence FROM jobs;
   CREATE INDEX job_payloads_by_job ON job_payloads (sequence);
   CREATE TRIGGER forget_payloads AFTER DELETE ON jobs BEGIN
     DELETE FROM job_payloads WHERE sequence = old.sequence;
   END;
   DROP INDEX jobs_by_payload;
   ALTER TABLE jobs DROP COLUMN payload;`,
  'ALTER TABLE jobs ADD COLUMN parent_sampled INTEGER NOT NULL DEFAULT 1;',
  'ALTER TABLE jobs ADD COLUMN partitions INTEGER NOT NULL DEFAULT 1;',
];

/**
 * Keeps a data folder for this process, by SQLite's own lock on a file beside its database: the
 * lock is gone with the process, however it ends.
 * @returns what lets the folder go. @throws ERR_STORE where another process has it, ERR_STORAGE
 */
export function lockFolder(path: string): () => void {
  const name = basename(path);
  let database: Database.Database | undefined;
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    // SQLite would open files that it may only read, and fail at the first job.
    accessSync(dirname(path), constants.W_OK);
    database = new Database(path);
    database.exec('BEGIN EXCLUSIVE');
    const held = database;
    return () => {
      held.exec('ROLLBACK');
      held.close();
    };
  } catch (thrown) {
    database?.close();
    throw openError(name, thrown);
  }
}

/**
 * Opens or makes a database of jobs.
 * @throws ERR_STORE, and leaves the file as it is
 */
export function openDatabase(path: string): Database.Database {
  const name = basename(path);
  let database: Database.Database | undefined;
  try {
    database = new Database(path);
    database.exec('PRAGMA journal_mode = WAL');
    database.exec('PRAGMA synchronous = FULL');
    checkIntegrity(database);
    migrate(database, name);
    return database;
  } catch (thrown) {
    database?.close();
    throw thrown instanceof ProverError ? thrown : openError(name, thrown);
  }
}

function checkIntegrity(database: Database.Database): void {
  const rows = database.prepare('PRAGMA integrity_check').all() as { integrity_check: string }[];
  if (rows[0]?.integrity_check !== 'ok') throw new Error('malformed');
}

function migrate(database: Database.Database, name: string): void {
  const row = database.prepare('PRAGMA user_version').get() as { user_version: number };
  const version = row.user_version;
  if (version > MIGRATIONS.length) {
    const expected = `a database of version ${MIGRATIONS.length} or older`;
    throw new ProverError('ERR_STORE', { subject: name, expected, actual: `version ${version}` });
  }
  MIGRATIONS.slice(version).forEach((statements, i) => {
    const next = version + i + 1;
    database.exec(`BEGIN IMMEDIATE; ${statements} PRAGMA user_version = ${next}; COMMIT`);
  });
}

function openError(subject: string, thrown: unknown): ProverError {
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  if (/locked|busy/i.test(message)) {
    const expected = 'a data folder of its own';
    const actual = 'one that another proofline serves';
    return new ProverError('ERR_STORE', { subject, expected, actual }, thrown);
  }
  if (/malformed|not a database|corrupt/i.test(message)) {
    const expected = 'an intact database';
    const actual = 'a damaged one, left as it is: move it away to start with no jobs';
    return new ProverError('ERR_STORE', { subject, expected, actual }, thrown);
  }
  return storageError('open', subject, thrown);
}

/** What the disk or the system refused. */
export function storageError(action: string, subject: string, thrown: unknown): ProverError {
  const { code, message } = thrown as { code?: string; message?: string };
  const said = `${code} ${message}`;
  const known = REFUSALS.find(([pattern]) => pattern.test(said))?.[1];
  const reason = known ?? code ?? message ?? 'unknown';
  return new ProverError('ERR_STORAGE', { subject, action, reason }, thrown);
}

const REFUSALS: readonly (readonly [RegExp, string])[] = [
  [/SQLITE_FULL|ENOSPC|disk is full/i, 'no space left on the device'],
  [/SQLITE_READONLY|EROFS|readonly database/i, 'it may only be read'],
];
