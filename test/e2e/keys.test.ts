import { execFileSync, spawn } from 'node:child_process';
import {
  appendFile,
  chmod,
  copyFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Micros } from '../../src/core/units.ts';
import { SqliteJobStore } from '../../src/jobs/sqlite-store.ts';
import { KeyStore } from '../../src/keys/store.ts';
import { Api } from '../support/api.ts';
import { chainKey, chainWitness } from '../support/chain-files.ts';
import { MAIN, proofline, serve } from '../support/command.ts';
import { inspector } from '../support/key-inspector.ts';
import { largeKey } from '../support/large-key.ts';
import { golden } from '../support/shared.ts';

let sources: string;
let zkey: string;
let large: string;
let data: string;
let keys: string;

beforeAll(async () => {
  sources = await mkdtemp(join(tmpdir(), 'proofline-key-sources-'));
  zkey = join(sources, 'chain.zkey');
  large = join(sources, 'large.params');
  await chainKey(zkey);
  await largeKey(large);
});
afterAll(() => rm(sources, { recursive: true }));
beforeEach(async () => {
  data = await mkdtemp(join(tmpdir(), 'proofline-keys-'));
  keys = join(data, 'keys');
});
afterEach(() => rm(data, { recursive: true }));

/** The same folder as the commands see, without the start of a process. */
const store = () => new KeyStore(keys, inspector, () => 0);
const progress = { signal: new AbortController().signal };
const run = (...args: string[]) => proofline(['keys', ...args, '--data-dir', data]);
const temporaries = async () =>
  (await readdir(keys)).filter((entry) => /^(incoming|outgoing)-/.test(entry));

it('keeps, lists, shows, verifies and removes', async () => {
  const imported = await run('import', zkey, '--json');
  expect(imported).toMatchObject({ code: 0, stderr: '' });
  const [key] = JSON.parse(imported.stdout).imported;
  expect(key).toMatchObject({ name: 'chain', group_checked: true, linked: false, origin: zkey });
  expect((await run('list')).stdout).toMatch(/^chain {2}zkey {2}bn254 {2}\S+ KiB {2}[0-9a-f]{16}/);
  expect((await run('show', 'chain')).stdout).toMatch(/^points {4}\d+, checked$/m);
  expect(await run('verify')).toMatchObject({ code: 0, stdout: 'chain  whole\n' });
  expect(await run('remove', key.digest.slice(0, 10))).toMatchObject({ code: 0 });
  expect(await run('show', 'chain')).toMatchObject({ code: 2 });
  expect((await run('list')).stdout).toContain('none: ');
});

it('says which keys are damaged, and where, and fails', async () => {
  const { path, digest } = await store().import(zkey, { name: 'chain' }, progress);
  const tiny = await store().import(golden('tiny.params'), { name: 'tiny' }, progress);
  const bytes = await readFile(path);
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 300) ^ 1, bytes.length - 300);
  await writeFile(path, bytes);
  await writeFile(join(keys, tiny.digest, 'meta.json'), '');
  const verified = await run('verify');
  expect(verified.code).toBe(3);
  expect(verified.stdout).toMatch(/^chain {2}DAMAGED: other bytes in \w+, between \d+ and \d+ \(/m);
  expect(verified.stdout).toMatch(/^tiny {2}DAMAGED: no record/m);
  const listed = JSON.parse((await run('list', '--json')).stdout);
  expect(listed.keys).toMatchObject([{ name: 'chain', digest, damage: expect.any(String) }]);
  expect(listed.unreadable).toMatchObject([{ name: 'tiny', whole: false }]);
});

describe('a folder', () => {
  it('is imported but for its bad files, which are named', async () => {
    const folder = join(data, 'cache');
    await mkdir(join(folder, 'folder.zkey'), { recursive: true });
    await copyFile(zkey, join(folder, 'good.zkey'));
    await symlink('/dev/zero', join(folder, 'good.zkey.meta.json'));
    await symlink(golden('tiny.params'), join(folder, 'linked.params'));
    execFileSync('mkfifo', [join(folder, 'linked.vk')]);
    await symlink('/dev/zero', join(folder, 'device.params'));
    await symlink('/nowhere', join(folder, 'gone.zkey'));
    await writeFile(join(folder, 'bad.zkey'), 'zkey');
    await writeFile(join(folder, 'a space.zkey'), await readFile(zkey));
    await writeFile(join(folder, 'notes.txt'), 'no key');
    execFileSync('mkfifo', [join(folder, 'pipe.params')]);
    const { code, stdout, stderr } = await run('import', folder, '--json');
    expect(code).toBe(2);
    const { imported, failed } = JSON.parse(stdout);
    expect(imported.map(({ name }: { name: string }) => name)).toEqual(['good', 'linked']);
    expect(
      Object.fromEntries(failed.map((f: { file: string; code: string }) => [f.file, f.code])),
    ).toEqual({
      'a space.zkey': 'ERR_PARAMS',
      'bad.zkey': 'ERR_FORMAT',
      'device.params': 'ERR_FILE',
      'folder.zkey': 'ERR_FILE',
      'gone.zkey': 'ERR_FILE',
      'pipe.params': 'ERR_FILE',
    });
    expect(stderr.trim().split('\n')).toHaveLength(6);
    expect(await temporaries()).toEqual([]);
  });

  it('of nothing, or with options for one file, is refused', async () => {
    expect(await run('import', data)).toMatchObject({ code: 2 });
    await copyFile(zkey, join(data, 'a.zkey'));
    await copyFile(golden('tiny.params'), join(data, 'b.params'));
    expect((await run('import', data, '--name', 'one')).stderr).toContain('expected one key file');
    expect((await run('import', zkey, '--link', '--copy')).stderr).toContain('cannot be used with');
  });
});

describe('two processes', () => {
  it('import the same key at once', async () => {
    const both = await Promise.all([run('import', large), run('import', large, '--name', 'two')]);
    expect(both.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
      Array(2).fill({ code: 0, stderr: '' }),
    );
    const points = 'not checked';
    expect(await store().list()).toMatchObject([{ names: ['large', 'two'], points }]);
    expect(await temporaries()).toEqual([]);
  });

  it('give one name to one of two keys', async () => {
    const both = await Promise.all(
      [zkey, golden('tiny.params')].map((path) => run('import', path, '--name', 'same')),
    );
    expect(both.map(({ code }) => code).sort()).toEqual([0, 2]);
    expect((await store().list()).filter(({ name }) => name === 'same')).toHaveLength(1);
  });
});

describe('an import that is killed', () => {
  const args = () => [MAIN, 'keys', 'import', large, '--data-dir', data];
  const importing = () => spawn(process.execPath, args(), { stdio: 'ignore' });

  /** Bytes of the key on its way in; undefined where there is none. */
  const arrived = async () => {
    const [folder] = await temporaries().catch(() => []);
    const info = await stat(join(keys, folder ?? 'none', 'key')).catch(() => undefined);
    return info?.size;
  };

  it.each([
    ['in mid-copy', 'SIGKILL', 137],
    ['in mid-copy', 'SIGTERM', 143],
  ] as const)('%s by %s leaves nothing, and is done when run again', async (_, signal, status) => {
    const child = importing();
    const ended = new Promise<number>((resolve) =>
      child.once('close', (code, by) => resolve(by === 'SIGKILL' ? 137 : (code ?? -1))),
    );
    await expect.poll(arrived, { interval: 5, timeout: 20_000 }).toBeGreaterThan(0);
    child.kill(signal);
    expect(await ended).toBe(status);
    expect(await temporaries()).toHaveLength(signal === 'SIGKILL' ? 1 : 0);
    expect(await store().list()).toEqual([]);
    const { digest } = await store().import(large, {}, progress);
    expect((await store().verify(digest, progress)).damage).toBeUndefined();
    expect(await temporaries()).toEqual([]);
  });

  it('at any moment is listed whole or not at all', async () => {
    for (let ms = 200; ms <= 1000; ms += 200) {
      const child = importing();
      const ended = new Promise((resolve) => child.once('close', resolve));
      setTimeout(() => child.kill('SIGKILL'), ms);
      await ended;
      expect(await store().unreadable()).toEqual([]);
      for (const { digest } of await store().list()) {
        expect((await store().verify(digest, progress)).damage).toBeUndefined();
        await store().remove(digest);
      }
    }
  });
});

it('refuses a key whose points are bad once all are checked', async () => {
  const refused = await run('import', large, '--full');
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('large.params: h[0]');
  expect(await store().list()).toEqual([]);
});

it('is noticed by a service that runs', async () => {
  await using service = await serve(data);
  const api = new Api(service.url);
  const listed = async () => (await api.send('/v1/keys')).body.keys;
  expect(await listed()).toEqual([]);
  const { path } = await store().import(zkey, { name: 'chain' }, progress);
  const [key] = await listed();
  expect(key).toMatchObject({ name: 'chain', group_checked: true });
  expect(key.damage).toBeUndefined();
  await appendFile(path, 'x');
  expect((await listed())[0].damage).toMatch(/^a file of \d+ bytes instead of \d+$/);
  const witness = await readFile(await chainWitness(data, 3n));
  expect(await api.prove(witness, { key: 'chain' })).toMatchObject({
    status: 422,
    body: { error: { code: 'ERR_KEY_DAMAGED' } },
  });
  await store().import(zkey, {}, progress);
  expect((await api.prove(witness, { key: 'chain' })).status).toBe(202);
  await store().remove('chain');
  expect(await listed()).toEqual([]);
});

it('removes no key that an unsettled job needs, unless told to', async () => {
  const { digest } = await store().import(zkey, { name: 'chain' }, progress);
  const jobs = new SqliteJobStore(join(data, 'jobs.db'));
  const request = { kind: 'circom', key: 'chain', payload: 'ab'.repeat(32) } as const;
  const job = { id: 'job', request, keyDigest: digest, submittedAt: 1 as Micros, traceId: 'cd' };
  jobs.insert(job, 'fingerprint');
  expect((await run('remove', 'chain')).stderr).toContain(
    'key: expected one that no unsettled job needs (or --force), got one that 1 needs',
  );
  expect(await run('remove', 'chain', '--force')).toMatchObject({ code: 0 });
  await store().import(zkey, { name: 'chain' }, progress);
  jobs.settle('job', undefined, { state: 'cancelled' });
  expect(await run('remove', 'chain')).toMatchObject({ code: 0 });
  jobs.close();
});

it('is refused in a folder that may only be read', async (context) => {
  if (process.getuid?.() === 0) context.skip('root may write everywhere');
  await chmod(data, 0o500);
  const refused = await run('import', zkey);
  await chmod(data, 0o700);
  expect(refused).toMatchObject({ code: 3 });
  expect(refused.stderr).toContain('keys: cannot write: permission denied');
});
