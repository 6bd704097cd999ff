import type Database from 'libsql';
import { openDatabase, storageError } from './database.ts';
import type { FilecoinRequest } from './job.ts';

/** A call of a Lotus miner that is answered later, by a call of ours. */
export interface WorkerCall {
  /** UUID, known to the miner. */
  readonly id: string;
  readonly miner: number;
  readonly sector: number;
  /** Of the miner, that takes the result. */
  readonly returnMethod: string;
  readonly request: FilecoinRequest;
  /** Absent: the proof is not made yet. */
  readonly result?: WorkerCallResult;
}

export type WorkerCallResult =
  | { readonly proofBase64: string }
  /** For the miner's operator; and whether the same call may succeed another time. */
  | { readonly reason: string; readonly temporary: boolean };

interface Row {
  readonly id: string;
  readonly miner: number;
  readonly sector: number;
  readonly return_method: string;
  readonly request: string;
  readonly result: string | null;
}

/**
 * Calls whose result no miner has taken yet, beside the jobs in their database. What a method has
 * changed is on disk when it returns. The database is that of a SqliteJobStore, which is open.
 */
export class WorkerCallStore {
  readonly #database: Database.Database;

  /** @throws ERR_STORE */
  constructor(path: string) {
    this.#database = openDatabase(path);
  }

  insert({ id, miner, sector, returnMethod, request }: WorkerCall): void {
    this.#write(
      `INSERT INTO worker_calls (id, miner, sector, return_method, request) VALUES (?, ?, ?, ?, ?)`,
      id,
      miner,
      sector,
      returnMethod,
      JSON.stringify(request),
    );
  }

  /** Keeps the first result that a call gets. */
  finish(id: string, result: WorkerCallResult): void {
    this.#write(
      'UPDATE worker_calls SET result = ? WHERE id = ? AND result IS NULL',
      JSON.stringify(result),
      id,
    );
  }

  /** To be called once a miner has the result. */
  remove(id: string): void {
    this.#write('DELETE FROM worker_calls WHERE id = ?', id);
  }

  /** In order of arrival. */
  list(): readonly WorkerCall[] {
    const rows = this.#database.prepare('SELECT * FROM worker_calls ORDER BY rowid').all() as Row[];
    return rows.map(({ id, miner, sector, return_method, request, result }) => ({
      ...{ id, miner, sector, returnMethod: return_method, request: JSON.parse(request) },
      ...(result !== null && { result: JSON.parse(result) }),
    }));
  }

  needsPayload(sha256: string): boolean {
    const sql = 'SELECT 1 FROM worker_calls WHERE result IS NULL AND instr(request, ?) > 0 LIMIT 1';
    return this.#database.prepare(sql).get(sha256) !== undefined;
  }

  close(): void {
    this.#database.close();
  }

  /** @throws ERR_STORAGE, and then nothing has changed */
  #write(sql: string, ...values: readonly (string | number)[]): void {
    try {
      this.#database.prepare(sql).run(...values);
    } catch (thrown) {
      throw storageError('write', 'worker calls', thrown);
    }
  }
}
