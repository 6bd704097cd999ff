import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { openDatabase } from '../../../src/jobs/database.ts';
import { PayloadFolder } from '../../../src/jobs/payloads.ts';
import { TokenStore } from '../../../src/rpc/tokens.ts';

/** What was asked of the file system, in order. */
const done: string[] = [];

vi.mock('node:fs/promises', async (load) => {
  const actual = await load<typeof import('node:fs/promises')>();
  return {
    ...actual,
    open: async (path: string, ...rest: [string, number?]) => {
      const file = await actual.open(path, ...rest);
      const sync = file.sync.bind(file);
      file.sync = async () => {
        done.push(`sync ${basename(path).replace(/^(partial-|tokens\.json\.).*/, 'new file')}`);
        await sync();
      };
      return file;
    },
    rename: async (from: string, to: string) => {
      done.push('rename');
      await actual.rename(from, to);
    },
  };
});

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proofline-durable-'));
  done.length = 0;
});
afterEach(() => rm(folder, { recursive: true }));

const ORDER = (name: string) => ['sync new file', 'rename', `sync ${name}`];

it('a payload, then its name, has reached the disk before its digest is given', async () => {
  const options = { folder: join(folder, 'payloads'), bytesMax: 100, inUse: () => false };
  await new PayloadFolder(options).put([Buffer.from('abc')] as never, 10);
  expect(done).toEqual(ORDER('payloads'));
});

it('tokens have reached the disk before one is shown', async () => {
  await new TokenStore(join(folder, 'data', 'tokens.json')).create('ci', 'read');
  expect(done).toEqual(ORDER('data'));
});

it('a commit of the database waits for the disk', () => {
  const database = openDatabase(join(folder, 'jobs.db'));
  const pragma = (name: string) => database.prepare(`PRAGMA ${name}`).get();
  expect(pragma('journal_mode')).toMatchObject({ journal_mode: 'wal' });
  // 2 is FULL: https://www.sqlite.org/pragma.html#pragma_synchronous
  expect(pragma('synchronous')).toMatchObject({ synchronous: 2 });
  database.close();
});
