import type Database from 'libsql';
import { ProverError } from '../core/errors.ts';
import type { Micros } from '../core/units.ts';
import type { ProverEvent } from '../telemetry/events.ts';
import { lockFolder, openDatabase, storageError } from './database.ts';
import { type Job, type JobState, payloadsOf } from './job.ts';
import type { JobChange, JobQuery, JobStore, NewJob } from './store.ts';

/** A row of `jobs`, without its events. */
interface Row {
  readonly sequence: number;
  readonly id: string;
  readonly state: JobState;
  readonly request: string;
  readonly key_digest: string;
  readonly fingerprint: string;
  readonly submitted_at: number;
  readonly started_at: number | null;
  readonly ended_at: number | null;
  readonly attempts: number;
  readonly crashes: number;
  readonly trace_id: string;
  readonly parent_span_id: string | null;
  readonly parent_sampled: number;
  readonly partitions: number;
  readonly outcome: string | null;
  readonly error: string | null;
}

const COLUMNS = `sequence, id, state, request, key_digest, fingerprint, submitted_at, started_at,
  ended_at, attempts, crashes, trace_id, parent_span_id, parent_sampled, partitions,
  outcome, error`;
const UNSETTLED = `state IN ('queued', 'running')`;

/** Jobs in SQLite. A commit has reached the disk (`synchronous = FULL`) before a method returns. */
export class SqliteJobStore implements JobStore {
  readonly #unlock: () => void;
  readonly #database: Database.Database;
  readonly #statements = new Map<string, Database.Statement>();

  /** @throws ERR_STORE, also where another process has the folder, ERR_STORAGE */
  constructor(path: string) {
    this.#unlock = lockFolder(`${path}.lock`);
    try {
      this.#database = openDatabase(path);
    } catch (thrown) {
      this.#unlock();
      throw thrown;
    }
  }

  insert(job: NewJob, fingerprint: string): Job {
    const { request } = job;
    this.#atomically(() => {
      this.#write(
        `INSERT INTO jobs (id, state, request, key, key_digest, idempotency_key, fingerprint,
           submitted_at, trace_id, parent_span_id, parent_sampled, partitions)
         VALUES (?, 'queued', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        job.id,
        JSON.stringify(request),
        request.key ?? job.keyDigest,
        job.keyDigest,
        request.idempotencyKey ?? null,
        fingerprint,
        job.submittedAt,
        job.traceId,
        job.parentSpanId ?? null,
        job.parentSampled === false ? 0 : 1,
        job.partitions ?? 1,
      );
      const { sequence } = this.get(job.id);
      for (const sha256 of new Set(payloadsOf(request))) {
        this.#write('INSERT INTO job_payloads VALUES (?, ?)', sha256, sequence);
      }
    });
    return this.get(job.id);
  }

  get(id: string): Job {
    const [row] = this.#rows(`WHERE id = ?`, id);
    if (row === undefined) throw new ProverError('ERR_JOB_UNKNOWN', { jobId: id });
    return jobOf(row);
  }

  findByIdempotencyKey(key: string) {
    const [row] = this.#rows('WHERE idempotency_key = ?', key);
    return row && { job: jobOf(row), fingerprint: row.fingerprint };
  }

  start(id: string, at: Micros): Job | undefined {
    const changed = this.#write(
      `UPDATE jobs SET state = 'running', started_at = ?, attempts = attempts + 1
       WHERE id = ? AND state = 'queued'`,
      at,
      id,
    );
    return changed === 0 ? undefined : this.get(id);
  }

  requeue(id: string): void {
    this.#write(
      `UPDATE jobs SET state = 'queued', started_at = NULL WHERE id = ? AND state = 'running'`,
      id,
    );
  }

  addCrash(id: string): number {
    this.#write('UPDATE jobs SET crashes = crashes + 1 WHERE id = ?', id);
    return this.get(id).crashes;
  }

  settle(id: string, attempt: number | undefined, change: JobChange): boolean {
    const changed = this.#write(
      `UPDATE jobs SET state = ?, ended_at = ?, outcome = ?, error = ?
       WHERE id = ? AND ${UNSETTLED} AND attempts = coalesce(?, attempts)`,
      change.state ?? 'failed',
      change.endedAt ?? null,
      jsonOf(change.outcome),
      jsonOf(change.error),
      id,
      attempt ?? null,
    );
    return changed === 1;
  }

  keepEvents(id: string, events: readonly ProverEvent[]): void {
    this.#write('UPDATE jobs SET events = ? WHERE id = ?', JSON.stringify(events), id);
  }

  events(id: string): readonly ProverEvent[] {
    const row = this.#prepare('SELECT events FROM jobs WHERE id = ?').get(id) as
      | { events: string | null }
      | undefined;
    return row?.events ? JSON.parse(row.events) : [];
  }

  list({ limit, state, key, before, since }: JobQuery): readonly Job[] {
    const rows = this.#rows(
      `WHERE (?1 IS NULL OR state = ?1) AND (?2 IS NULL OR key = ?2 OR key_digest = ?2)
         AND (?3 IS NULL OR sequence < ?3) AND (?4 IS NULL OR submitted_at >= ?4)
       ORDER BY sequence DESC LIMIT ?5`,
      state ?? null,
      key ?? null,
      before ?? null,
      since ?? null,
      limit,
    );
    return rows.map(jobOf);
  }

  unsettled(): readonly Job[] {
    return this.#rows(`WHERE ${UNSETTLED} ORDER BY sequence`).map(jobOf);
  }

  count(state: JobState): number {
    const row = this.#prepare('SELECT count(*) AS n FROM jobs WHERE state = ?').get(state);
    return (row as { n: number }).n;
  }

  queuedSince(): Micros | undefined {
    const sql = `SELECT min(submitted_at) AS at FROM jobs WHERE state = 'queued'`;
    const { at } = this.#prepare(sql).get() as { at: number | null };
    return at === null ? undefined : (at as Micros);
  }

  needsPayload(sha256: string): boolean {
    const sql = `SELECT 1 FROM job_payloads JOIN jobs USING (sequence)
      WHERE sha256 = ? AND ${UNSETTLED} LIMIT 1`;
    return this.#prepare(sql).get(sha256) !== undefined;
  }

  prune(kept: number, time: Micros): void {
    this.#write(
      `DELETE FROM jobs WHERE NOT ${UNSETTLED} AND (ended_at < ? OR sequence <= coalesce(
         (SELECT sequence FROM jobs WHERE NOT ${UNSETTLED} ORDER BY sequence DESC
          LIMIT 1 OFFSET ?), 0))`,
      time,
      kept,
    );
  }

  close(): void {
    try {
      this.#database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    } catch {
      // A full disk: what the journal holds stays there, and the next process reads it.
    }
    this.#database.close();
    this.#unlock();
  }

  #rows(where: string, ...values: readonly (string | number | null)[]): Row[] {
    return this.#prepare(`SELECT ${COLUMNS} FROM jobs ${where}`).all(...values) as Row[];
  }

  /** @returns how many rows it changed. @throws ERR_STORAGE, and then nothing has changed */
  #write(sql: string, ...values: readonly (string | number | null)[]): number {
    try {
      return this.#prepare(sql).run(...values).changes;
    } catch (thrown) {
      throw storageError('write', 'jobs', thrown);
    }
  }

  /** @throws ERR_STORAGE, and then nothing has changed */
  #atomically(work: () => void): void {
    this.#write('BEGIN IMMEDIATE');
    try {
      work();
      this.#write('COMMIT');
    } catch (thrown) {
      this.#database.exec('ROLLBACK');
      throw thrown;
    }
  }

  #prepare(sql: string): Database.Statement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}

function jobOf(row: Row): Job {
  return {
    id: row.id,
    sequence: row.sequence,
    request: JSON.parse(row.request),
    keyDigest: row.key_digest,
    state: row.state,
    submittedAt: row.submitted_at as Micros,
    ...(row.started_at !== null && { startedAt: row.started_at as Micros }),
    ...(row.ended_at !== null && { endedAt: row.ended_at as Micros }),
    progress: row.state === 'completed' ? 1 : 0,
    attempts: row.attempts,
    crashes: row.crashes,
    traceId: row.trace_id,
    ...(row.parent_span_id !== null && { parentSpanId: row.parent_span_id }),
    ...(row.parent_sampled === 0 && { parentSampled: false }),
    ...(row.partitions > 1 && { partitions: row.partitions }),
    ...(row.outcome !== null && { outcome: JSON.parse(row.outcome) }),
    ...(row.error !== null && { error: JSON.parse(row.error) }),
  };
}

function jsonOf(value: object | undefined): string | null {
  return value === undefined ? null : JSON.stringify(value);
}
