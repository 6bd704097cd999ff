import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFile,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inspectKey } from '../../../src/host/inspect.ts';
import { type KeyInspector, KeyStore } from '../../../src/keys/store.ts';
import { chainKey } from '../../support/chain-files.ts';
import { proofline } from '../../support/command.ts';
import { golden } from '../../support/shared.ts';

const progress = { signal: new AbortController().signal };
let sources: string;
let zkey: string;
let folder: string;
let checks: string[];
let store: KeyStore;

const inspector: KeyInspector = {
  inspect: (path, { signal, onProgress = () => {} }) =>
    inspectKey(path, { signal, event() {}, progress: onProgress }),
  async checkKey(_, digest) {
    checks.push(digest);
  },
};
const sha256 = async (path: string) =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex');

beforeAll(async () => {
  sources = await mkdtemp(join(tmpdir(), 'proofline-key-sources-'));
  zkey = join(sources, 'chain.zkey');
  await chainKey(zkey);
});
afterAll(() => rm(sources, { recursive: true }));
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'proofline-keys-')), 'keys');
  checks = [];
  store = new KeyStore(folder, inspector);
});
afterEach(() => rm(join(folder, '..'), { recursive: true }));

describe('import', () => {
  it('keeps a copy under its digest, with what is known of it', async () => {
    const key = await store.import(zkey, { name: 'chain' }, progress);
    expect(key).toMatchObject({
      name: 'chain',
      digest: await sha256(zkey),
      format: 'zkey',
      curve: 'bn254',
      publicCount: 1,
      points: 'checked',
      origin: 'chain.zkey',
      insecure: expect.stringContaining('no contribution'),
    });
    expect(checks).toEqual([key.digest]);
    expect(await readFile(key.path)).toEqual(await readFile(zkey));
    expect(await store.resolve('chain')).toEqual(key);
    expect(await store.resolve(key.digest.toUpperCase())).toEqual(key);
    expect(await store.list()).toEqual([key]);
  });

  it('takes bellman parameters too, and the same key twice', async () => {
    const params = golden('tiny.params');
    const [first, second] = await Promise.all(
      ['one', 'two'].map((name) => store.import(params, { name }, progress)),
    );
    expect(second?.digest).toBe(first?.digest);
    expect(await store.list()).toMatchObject([{ names: ['one', 'two'], format: 'bellman' }]);
  });

  it('leaves a linked file where it is', async () => {
    const key = await store.import(zkey, { name: 'chain', link: true }, progress);
    expect(key.path).toBe(zkey);
    expect(await readdir(join(folder, key.digest))).toEqual(['meta.json']);
    await store.remove('chain');
    expect(await sha256(zkey)).toBe(key.digest);
  });

  it('trusts a digest instead of checking points, and refuses any other file', async () => {
    const digest = await sha256(zkey);
    const key = await store.import(zkey, { digest }, progress);
    expect(key).toMatchObject({ points: 'trusted digest', name: digest.slice(0, 16) });
    expect(checks).toEqual([]);
    const other = { digest: '0'.repeat(64) };
    await expect(store.import(golden('tiny.params'), other, progress)).rejects.toMatchObject({
      code: 'ERR_KEY_DAMAGED',
    });
    expect((await store.import(zkey, { full: true }, progress)).points).toBe('checked');
    expect((await store.list()).length).toBe(1);
  });

  it('holds an official name to its published digest', async () => {
    const identifier = '0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0';
    const name = `v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-${identifier}.params`;
    const fake = join(sources, name);
    await writeFile(fake, await readFile(golden('tiny.params')));
    await expect(store.import(fake, {}, progress)).rejects.toThrow(
      'expected the published BLAKE2b digest 7610b9f82bfc88405b7a832b651ce2f6',
    );
    expect(await store.list()).toEqual([]);
  });

  it('refuses a name that another key has, and names that are none', async () => {
    await store.import(zkey, { name: 'taken' }, progress);
    const params = golden('tiny.params');
    for (const name of ['taken', '../up', '', '.hidden', 'a/b', 'a'.repeat(64)]) {
      await expect(store.import(params, { name }, progress)).rejects.toMatchObject({
        code: 'ERR_PARAMS',
      });
    }
    expect(await store.resolve('taken')).toMatchObject({ format: 'zkey' });
  });

  it.each([
    ['a truncated key', async (path: string) => (await readFile(path)).subarray(0, -200)],
    ['something else', async () => Buffer.from('not a key at all')],
    ['nothing', async () => Buffer.alloc(0)],
  ])('keeps nothing of %s', async (_, change) => {
    const bad = join(sources, 'bad.zkey');
    await writeFile(bad, await change(zkey));
    await expect(store.import(bad, { name: 'bad' }, progress)).rejects.toMatchObject({
      code: 'ERR_FORMAT',
    });
    expect(await store.list()).toEqual([]);
    expect(await readdir(folder)).toEqual([]);
  });

  it('keeps nothing of a key with a point off its curve', async () => {
    const refusing = new KeyStore(folder, {
      ...inspector,
      checkKey: () => Promise.reject(new Error('a point off the curve')),
    });
    await expect(refusing.import(zkey, { name: 'bad' }, progress)).rejects.toThrow('off the curve');
    expect(await readdir(folder)).toEqual([]);
  });

  it('lists nothing of an import that was killed, and the next one cleans up', async () => {
    const child = spawn(process.execPath, ['-e', '']);
    await new Promise((resolve) => child.once('close', resolve));
    const dead = join(folder, `import-${child.pid}-x`);
    await mkdir(dead, { recursive: true });
    await writeFile(join(dead, 'key'), 'half');
    expect(await store.list()).toEqual([]);
    await store.import(zkey, { name: 'chain' }, progress);
    expect((await readdir(folder)).sort()).toEqual([await sha256(zkey), 'names'].sort());
  });
});

describe('damage', () => {
  it('is found where it is', async () => {
    const key = await store.import(zkey, { name: 'chain' }, progress);
    expect(await store.verify('chain', progress)).toEqual({ key });
    const bytes = await readFile(key.path);
    bytes[bytes.length - 200] = (bytes.at(-200) as number) ^ 1;
    await writeFile(key.path, bytes);
    expect((await store.verify('chain', progress)).damage).toContain('written to since');
    await expect(store.resolve('chain')).rejects.toMatchObject({ code: 'ERR_KEY_DAMAGED' });
    await utimes(key.path, key.modifiedMs / 1000, key.modifiedMs / 1000);
    expect((await store.verify('chain', progress)).damage).toMatch(
      /other bytes between 0 and \d+ \(h, l, a, bG1, bG2\)|written to since/,
    );
    await appendFile(key.path, 'x');
    expect((await store.verify('chain', progress)).damage).toMatch(/\d+ bytes instead of \d+/);
    await rm(key.path);
    expect((await store.verify('chain', progress)).damage).toBe('no file');
  });

  it('of a record is an error, not a missing key', async () => {
    const key = await store.import(zkey, { name: 'chain' }, progress);
    await writeFile(join(folder, key.digest, 'meta.json'), '{}');
    await expect(store.resolve('chain')).rejects.toMatchObject({ code: 'ERR_KEY_DAMAGED' });
  });
});

it('knows nothing of what is not in it', async () => {
  for (const name of ['nothing', '../../etc/passwd', '0'.repeat(64), '']) {
    await expect(store.resolve(name)).rejects.toMatchObject({ code: 'ERR_KEY_UNKNOWN' });
  }
  await mkdir(join(folder, 'names'), { recursive: true });
  await symlink('/etc/hostname', join(folder, 'names', 'link'));
  await expect(store.resolve('link')).rejects.toMatchObject({ code: 'ERR_KEY_UNKNOWN' });
});

it('works from the command line', async () => {
  const data = ['--data-dir', join(folder, '..')];
  const imported = await proofline(['keys', 'import', zkey, '--json', ...data]);
  expect(imported).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(imported.stdout).imported[0]).toMatchObject({
    name: 'chain',
    group_checked: true,
  });
  expect((await proofline(['keys', 'list', ...data])).stdout).toMatch(/^chain {2}zkey {2}bn254/);
  expect(await proofline(['keys', 'verify', ...data])).toMatchObject({
    code: 0,
    stdout: 'chain  whole\n',
  });
  expect(await proofline(['keys', 'remove', 'chain', ...data])).toMatchObject({ code: 0 });
  expect(await proofline(['keys', 'show', 'chain', ...data])).toMatchObject({ code: 2 });
});
