import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'libsql';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Micros } from '../../../src/core/units.ts';
import { SqliteJobStore } from '../../../src/jobs/sqlite-store.ts';

let folder: string;
let path: string;
let store: SqliteJobStore;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proofline-store-'));
  path = join(folder, 'jobs.db');
  store = new SqliteJobStore(path);
});
afterEach(async () => {
  store.close();
  await rm(folder, { recursive: true });
});

const at = (seconds: number) => (seconds * 1e6) as Micros;
function insert(id: string, idempotencyKey?: string, submittedAt = at(1)) {
  const request = { kind: 'circom', key: 'k', payload: `p-${id}` } as const;
  const keyed = idempotencyKey === undefined ? request : { ...request, idempotencyKey };
  const job = { id, request: keyed, keyDigest: 'd', submittedAt, traceId: 't' };
  return store.insert(job, `print-${id}`);
}
const settled = (id: string) => store.settle(id, undefined, { state: 'failed', endedAt: at(9) });

describe('a job of Filecoin', () => {
  const request = {
    kind: 'window-post',
    statement: 'statement',
    vanilla: ['one', 'two', 'one'],
  } as const;

  it('needs its statement and each vanilla proof until it is settled', () => {
    const job = { id: 'f', request, keyDigest: 'd', submittedAt: at(1), traceId: 't' };
    expect(store.insert(job, 'print').request).toEqual(request);
    expect(['statement', 'one', 'two', 'three'].map((each) => store.needsPayload(each))).toEqual([
      ...[true, true, true, false],
    ]);
    settled('f');
    expect(store.needsPayload('two')).toBe(false);
  });

  it('is forgotten with what it read', () => {
    const job = { id: 'f', request, keyDigest: 'd', submittedAt: at(1), traceId: 't' };
    store.insert(job, 'print');
    settled('f');
    store.prune(0, at(10));
    const database = new Database(path);
    expect(database.prepare('SELECT count(*) AS n FROM job_payloads').get()).toMatchObject({
      n: 0,
    });
    database.close();
  });
});

describe('a job', () => {
  it('comes back as it went in', () => {
    const job = insert('a', 'once');
    expect(job).toMatchObject({ state: 'queued', sequence: 1, attempts: 0, crashes: 0 });
    expect(store.get('a')).toEqual(job);
    expect(store.findByIdempotencyKey('once')).toEqual({ job, fingerprint: 'print-a' });
    expect(store.findByIdempotencyKey('other')).toBeUndefined();
    expect(() => store.get('b')).toThrow('job b: expected a known job');
  });

  it('starts only from the queue, and each start is an attempt', () => {
    insert('a');
    expect(store.start('a', at(2))).toMatchObject({ state: 'running', attempts: 1 });
    expect(store.start('a', at(2))).toBeUndefined();
    store.requeue('a');
    expect(store.get('a').startedAt).toBeUndefined();
    expect(store.start('a', at(3))?.attempts).toBe(2);
  });

  it('settles once, and not by an attempt that was fenced off', () => {
    insert('a');
    store.start('a', at(2));
    store.requeue('a');
    store.start('a', at(3));
    expect(store.settle('a', 1, { state: 'completed' })).toBe(false);
    expect(store.settle('a', 2, { state: 'completed', endedAt: at(4) })).toBe(true);
    expect(settled('a')).toBe(false);
    expect(store.get('a')).toMatchObject({ state: 'completed', progress: 1, endedAt: at(4) });
  });

  it('keeps its events', () => {
    insert('a');
    expect(store.events('a')).toEqual([]);
    const events = [{ atMicros: at(1), event: 'JOB_START', jobId: 'a' }] as const;
    store.keepEvents('a', events);
    expect(store.events('a')).toEqual(events);
  });
});

it('lists newest first, by state, key and time, page by page', () => {
  for (let i = 0; i < 5; i++) insert(`j${i}`, undefined, at(i));
  store.start('j1', at(9));
  const ids = (query: object) => store.list({ limit: 10, ...query }).map(({ id }) => id);
  expect(ids({})).toEqual(['j4', 'j3', 'j2', 'j1', 'j0']);
  expect(ids({ state: 'running' })).toEqual(['j1']);
  expect(ids({ key: 'k', limit: 2 })).toEqual(['j4', 'j3']);
  expect(ids({ before: 4, limit: 2 })).toEqual(['j2', 'j1']);
  expect(ids({ key: 'other' })).toEqual([]);
  expect(ids({ since: at(3) })).toEqual(['j4', 'j3']);
  expect(store.count('queued')).toBe(4);
  expect(store.queuedSince()).toBe(at(0));
  settled('j0');
  expect(store.queuedSince()).toBe(at(2));
  expect(store.unsettled().map(({ id }) => id)).toEqual(['j1', 'j2', 'j3', 'j4']);
});

it('forgets the oldest settled jobs, never an unsettled one, and no number twice', () => {
  for (let i = 0; i < 5; i++) insert(`j${i}`);
  for (const id of ['j1', 'j2', 'j4']) settled(id);
  store.prune(2, at(0));
  expect(store.list({ limit: 9 }).map(({ id }) => id)).toEqual(['j4', 'j3', 'j2', 'j0']);
  store.prune(2, at(10));
  expect(store.list({ limit: 9 }).map(({ id }) => id)).toEqual(['j3', 'j0']);
  expect(insert('next').sequence).toBe(6);
});

it('knows which payloads are needed', () => {
  insert('a');
  expect(store.needsPayload('p-a')).toBe(true);
  settled('a');
  expect(store.needsPayload('p-a')).toBe(false);
});

describe('the file', () => {
  it('belongs to one process at a time', () => {
    const script = `
      import Database from 'libsql';
      try { new Database(process.argv[1] + '.lock').exec('BEGIN EXCLUSIVE'); console.log('in'); }
      catch { console.log('out'); }`;
    const other = () =>
      execFileSync(process.execPath, ['--input-type=module', '-e', script, path]).toString();
    insert('a');
    expect(other()).toBe('out\n');
    expect(() => new SqliteJobStore(path)).toThrow('one that another proofline serves');
    store.close();
    expect(other()).toBe('in\n');
    store = new SqliteJobStore(path);
    expect(store.get('a').id).toBe('a');
  });

  it('is left as it is when it is damaged, or newer than this program', async () => {
    for (let i = 0; i < 50; i++) insert(`j${i}`);
    store.close();
    const bytes = await readFile(path);
    store = new SqliteJobStore(path);
    const damaged = Buffer.from(bytes);
    damaged.fill(0x5a, 4096, 12_000);
    const other = join(folder, 'other.db');
    for (const content of [damaged, Buffer.alloc(5000, 'not a database')]) {
      await writeFile(other, content);
      expect(() => new SqliteJobStore(other)).toThrow('other.db: expected an intact database');
      expect(await readFile(other)).toEqual(content);
    }
    await writeFile(other, bytes);
    const database = new Database(other);
    database.exec('PRAGMA user_version = 99');
    database.close();
    expect(() => new SqliteJobStore(other)).toThrow(/expected a database of version \d or older/);
  });

  it('of the first version is read, with the jobs in it', () => {
    const first = join(folder, 'first.db');
    const database = new Database(first);
    database.exec(FIRST_VERSION);
    const request = { kind: 'circom', key: 'k', payload: 'p' };
    const insert = database.prepare(
      `INSERT INTO jobs (id, state, request, key, key_digest, payload, idempotency_key, fingerprint,
         submitted_at, trace_id) VALUES (?, ?, ?, 'k', 'd', ?, ?, 'print', 1, 't')`,
    );
    for (const state of ['running', 'completed']) {
      const { payload } = request;
      insert.run(
        state,
        state,
        JSON.stringify({ ...request, payload: `${payload}-${state}` }),
        `${payload}-${state}`,
        `key-${state}`,
      );
    }
    database.close();
    const opened = new SqliteJobStore(first);
    expect(opened.unsettled()).toMatchObject([{ id: 'running', request: { kind: 'circom' } }]);
    expect(opened.get('completed')).toMatchObject({ sequence: 2, keyDigest: 'd' });
    expect(opened.findByIdempotencyKey('key-completed')?.fingerprint).toBe('print');
    expect(opened.needsPayload('p-running')).toBe(true);
    expect(opened.needsPayload('p-completed')).toBe(false);
    opened.close();
  });
});

/** As it was released: what is added since are migrations. */
const FIRST_VERSION = `CREATE TABLE jobs (
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
   CREATE INDEX jobs_by_payload ON jobs (payload, state);
   PRAGMA user_version = 1;`;
