import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFile,
  copyFile,
  cp,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { writeKeyMetadata as writeMetadata } from '../../../src/host/key-metadata.ts';
import type { KeyInspector } from '../../../src/keys/import.ts';
import { KeyStore } from '../../../src/keys/store.ts';
import { chainKey } from '../../support/chain-files.ts';
import { inspector as reader } from '../../support/key-inspector.ts';
import { largeKey } from '../../support/large-key.ts';
import { golden } from '../../support/shared.ts';

const progress = { signal: new AbortController().signal };
let sources: string;
let zkey: string;
let params: string;
let large: string;
let folder: string;
let checks: string[];
let needed: number;
let store: KeyStore;

const inspector: KeyInspector = {
  ...reader,
  async checkKey(_, digest) {
    checks.push(digest);
  },
};
const sha256 = async (path: string) =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex');
/** What lies in the store besides names and the lock. */
const entries = async () =>
  (await readdir(folder)).filter((entry) => !/^(lock|names)/.test(entry)).sort();

beforeAll(async () => {
  sources = await mkdtemp(join(tmpdir(), 'proofline-key-sources-'));
  zkey = join(sources, 'chain.zkey');
  params = join(sources, 'tiny.params');
  large = join(sources, 'large.params');
  await chainKey(zkey);
  await copyFile(golden('tiny.params'), params);
  await largeKey(large);
});
afterAll(() => rm(sources, { recursive: true }));
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'proofline-keys-')), 'keys');
  checks = [];
  needed = 0;
  store = new KeyStore(folder, inspector, () => needed);
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
      linked: false,
      source: { path: zkey },
      insecure: expect.stringContaining('no contribution'),
    });
    expect(checks).toEqual([key.digest]);
    expect(await readFile(key.path)).toEqual(await readFile(zkey));
    expect(await store.resolve('chain')).toEqual(key);
    expect(await store.resolve(key.digest.toUpperCase())).toEqual(key);
    expect(await store.resolve(key.digest.slice(0, 8))).toEqual(key);
    expect(await store.list()).toEqual([key]);
    expect(await entries()).toEqual([key.digest]);
  });

  it('takes bellman parameters too, and the same key twice at once', async () => {
    const [first, second] = await Promise.all(
      ['one', 'two'].map((name) => store.import(params, { name }, progress)),
    );
    expect(second?.digest).toBe(first?.digest);
    expect(await store.list()).toMatchObject([{ names: ['one', 'two'], format: 'bellman' }]);
    expect(checks).toHaveLength(1);
  });

  it('leaves a linked file where it is', async () => {
    const key = await store.import(zkey, { name: 'chain', link: true }, progress);
    expect(key).toMatchObject({ path: zkey, linked: true });
    expect(await readdir(join(folder, key.digest))).toEqual(['meta.json']);
    await store.remove('chain');
    expect(await sha256(zkey)).toBe(key.digest);
  });

  it('turns a link into a copy when asked, and never a copy into a link', async () => {
    await store.import(zkey, { link: true }, progress);
    const copied = await store.import(zkey, {}, progress);
    expect(copied).toMatchObject({ linked: false });
    expect(await readFile(copied.path)).toEqual(await readFile(zkey));
    expect(await store.import(zkey, { link: true }, progress)).toMatchObject({ linked: false });
  });

  it('follows a linked file that was moved once it is imported from there', async () => {
    const [from, to] = [join(sources, 'here.zkey'), join(sources, 'there.zkey')];
    await copyFile(zkey, from);
    await store.import(from, { name: 'chain', link: true }, progress);
    await rename(from, to);
    await expect(store.resolve('chain')).rejects.toThrow('got no file');
    await store.import(to, { link: true }, progress);
    expect(await store.resolve('chain')).toMatchObject({ path: to, linked: true });
  });

  it('trusts a digest instead of checking points, and refuses any other file', async () => {
    const digest = await sha256(zkey);
    const key = await store.import(zkey, { digest: digest.toUpperCase() }, progress);
    expect(key).toMatchObject({ points: 'trusted digest', name: digest.slice(0, 16) });
    expect(checks).toEqual([]);
    const other = { digest: '0'.repeat(64) };
    await expect(store.import(params, other, progress)).rejects.toMatchObject({
      code: 'ERR_KEY_DAMAGED',
    });
    const no = { digest: digest.slice(1) };
    await expect(store.import(zkey, no, progress)).rejects.toThrow('digest: expected a SHA-256');
    expect((await store.import(zkey, { full: true }, progress)).points).toBe('checked');
    expect(await store.list()).toHaveLength(1);
  });

  it('leaves more than a million points for a full check, and says so', async () => {
    const key = await store.import(large, { name: 'large', link: true }, progress);
    expect(key).toMatchObject({ points: 'not checked', pointCount: expect.any(Number) });
    expect(key.pointCount).toBeGreaterThan(1_000_000);
    expect(checks).toEqual([]);
    await store.import(large, { link: true, full: true }, progress);
    expect(checks).toEqual([key.digest]);
    expect((await store.resolve('large')).points).toBe('checked');
  });

  it('does not forget that a key is insecure, and learns it late', async () => {
    const [labelled, bare] = [join(sources, 'labelled.params'), join(sources, 'bare.params')];
    for (const path of [labelled, bare]) await copyFile(params, path);
    const metadata = { digest: await sha256(params), insecure: 'a development key', origin: 'x' };
    await writeMetadata(labelled, metadata);
    expect((await store.import(bare, { name: 'key' }, progress)).insecure).toBeUndefined();
    for (const path of [labelled, bare]) {
      const { insecure } = await store.import(path, {}, progress);
      expect(insecure).toBe('a development key');
    }
    await rm((await store.find('key')).path);
    expect(await store.import(bare, {}, progress)).toMatchObject({ insecure: 'a development key' });
  });

  it('passes over what it has imported before, unless the file has changed', async () => {
    const path = join(sources, 'again.params');
    await copyFile(params, path);
    const first = await store.import(path, { name: 'again' }, progress);
    const unread = new KeyStore(folder, { ...inspector, inspect: unwanted }, () => 0);
    expect(await unread.import(path, { name: 'again' }, progress)).toEqual(first);
    await copyFile(zkey, path);
    await expect(unread.import(path, {}, progress)).rejects.toThrow('not to be read');
    expect((await store.import(path, {}, progress)).format).toBe('zkey');
  });

  it('refuses a name that another key has, and names that are none', async () => {
    await store.import(zkey, { name: 'taken' }, progress);
    for (const name of ['taken', '../up', '', '.hidden', 'a/b', 'a'.repeat(64), 'x'.repeat(129)]) {
      await expect(store.import(params, { name }, progress)).rejects.toMatchObject({
        code: 'ERR_PARAMS',
      });
    }
    expect(await store.resolve('taken')).toMatchObject({ format: 'zkey' });
    await store.remove('taken');
    await store.import(params, { name: 'taken' }, progress);
    expect(await store.resolve('taken')).toMatchObject({ format: 'bellman' });
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
    expect(await entries()).toEqual([]);
  });

  it('keeps nothing of a key with a point off its curve', async () => {
    const checkKey = () => Promise.reject(new Error('a point off the curve'));
    const refusing = new KeyStore(folder, { ...inspector, checkKey }, () => 0);
    await expect(refusing.import(zkey, { name: 'bad' }, progress)).rejects.toThrow('off the curve');
    expect(await entries()).toEqual([]);
  });

  it('keeps nothing of a file that is written to while it is read', async () => {
    const path = join(sources, 'busy.zkey');
    for (const link of [true, false]) {
      await copyFile(zkey, path);
      const checkKey = () => appendFile(path, 'x');
      const busy = new KeyStore(folder, { ...inspector, checkKey }, () => 0);
      await expect(busy.import(path, { link }, progress)).rejects.toThrow(
        'key busy.zkey: expected a file that stays as it is',
      );
      expect(await entries()).toEqual([]);
    }
  });

  it('refuses what is no file at once', async () => {
    const fifo = join(sources, 'pipe.zkey');
    execFileSync('mkfifo', [fifo]);
    for (const path of [fifo, sources, '/dev/zero']) {
      await expect(store.import(path, {}, progress)).rejects.toThrow('expected a file, got some');
    }
    await expect(store.import(join(sources, 'none'), {}, progress)).rejects.toThrow('no such file');
  });

  it('ends when it is interrupted, also while it waits for another import', async () => {
    const first = new AbortController();
    const hanging = new KeyStore(
      folder,
      { ...inspector, checkKey: (_, __, { signal }) => rejectedBy(signal) },
      () => 0,
    );
    const running = hanging.import(zkey, {}, { signal: first.signal });
    running.catch(() => {});
    await expect.poll(entries).toHaveLength(1);
    const second = AbortSignal.timeout(50);
    await expect(store.import(params, {}, { signal: second })).rejects.toMatchObject({
      code: 'ERR_CANCELLED',
    });
    first.abort();
    await expect(running).rejects.toMatchObject({ code: 'ERR_CANCELLED' });
    expect(await entries()).toEqual([]);
  });

  it('removes what dead imports have left', async () => {
    await mkdir(join(folder, 'incoming-dead'), { recursive: true });
    await writeFile(join(folder, 'incoming-dead', 'key'), 'half');
    await mkdir(join(folder, 'outgoing-dead'));
    expect(await store.list()).toEqual([]);
    const { digest } = await store.import(zkey, {}, progress);
    expect(await entries()).toEqual([digest]);
  });
});

describe('a Filecoin cache', () => {
  const named = (identifier: string) =>
    `v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-${identifier}.params`;

  it('has its official names held to their published digests', async () => {
    const identifier = '0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0';
    const fake = join(sources, named(identifier));
    await copyFile(params, fake);
    await expect(store.import(fake, {}, progress)).rejects.toThrow(
      'expected the published BLAKE2b digest 7610b9f82bfc88405b7a832b651ce2f6',
    );
    expect(await store.list()).toEqual([]);
  });

  it('has an official file recognised by its content, whatever its name', async () => {
    const blake2b = '7610b9f82bfc88405b7a832b651ce2f6';
    const inspect: KeyInspector['inspect'] = async (path, options) => ({
      ...(await inspector.inspect(path, options)),
      blake2b,
    });
    const official = new KeyStore(folder, { ...inspector, inspect }, () => 0);
    expect(await official.import(params, {}, progress)).toMatchObject({
      circuit: 'window-post 2KiB',
      points: 'official file',
    });
    expect(checks).toEqual([]);
  });

  it('has a circuit guessed from the size of parameters that are not official', async () => {
    const inspect: KeyInspector['inspect'] = async (path, options) => ({
      ...(await inspector.inspect(path, options)),
      bytes: 47_299_128,
    });
    const other = new KeyStore(folder, { ...inspector, inspect }, () => 0);
    expect(await other.import(params, {}, progress)).toMatchObject({
      circuit: 'winning-post 2KiB, by its size',
      points: 'checked',
    });
  });

  it('has the verifying key beside a file compared with it', async () => {
    const path = join(sources, 'beside.params');
    await copyFile(params, path);
    await copyFile(golden('tiny.vk'), join(sources, 'beside.vk'));
    await store.import(path, {}, progress);
    await store.remove((await store.list())[0]?.digest ?? '');
    await copyFile(golden('window-2kib.vk'), join(sources, 'beside.vk'));
    await expect(store.import(path, {}, progress)).rejects.toThrow(
      'beside.vk: expected the verifying key of beside.params, got another one',
    );
  });
});

it('what whoever made a key says of it outlives an import that does not', async () => {
  const facts = { circuit: 'window-post 2KiB', insecure: 'made by setup' };
  const inspect: KeyInspector['inspect'] = async (path, options) => ({
    ...(await inspector.inspect(path, options)),
    ...{ ...facts, bytes: 47_299_128 },
  });
  await new KeyStore(folder, { ...inspector, inspect }, () => 0).import(params, {}, progress);
  const silent: KeyInspector['inspect'] = async (path, options) => ({
    ...(await inspector.inspect(path, options)),
    bytes: 47_299_128,
  });
  const store = new KeyStore(folder, { ...inspector, inspect: silent }, () => 0);
  expect(await store.import(params, { name: 'again' }, progress)).toMatchObject(facts);
});

describe('the key of a circuit', () => {
  const OFFICIAL = '7610b9f82bfc88405b7a832b651ce2f6';

  /** Another file each time, of which the inspector says what it is told. */
  async function imported(name: string, facts: object): Promise<void> {
    const path = join(sources, `${name}.zkey`);
    await copyFile(zkey, path);
    const digest = createHash('sha256').update(name).digest('hex');
    const inspect: KeyInspector['inspect'] = async (file, options) => ({
      ...(await inspector.inspect(file, options)),
      ...facts,
    });
    const other = new KeyStore(
      folder,
      { ...inspector, inspect: withDigest(inspect, digest) },
      () => 0,
    );
    await other.import(path, { name, link: true }, progress);
  }

  const withDigest =
    (inspect: KeyInspector['inspect'], digest: string): KeyInspector['inspect'] =>
    async (file, options) => ({ ...(await inspect(file, options)), digest });

  it('is the official one, else one that says so, else one of its size', async () => {
    const find = async () => (await store.resolveFor('window-post', '2KiB')).name;
    await expect(find()).rejects.toMatchObject({ code: 'ERR_KEY_UNKNOWN' });
    await imported('other', { circuit: 'window-post 8MiB', insecure: 'made by setup' });
    await expect(find()).rejects.toThrow('for window-post 2KiB');
    await imported('sized', { circuit: 'window-post 2KiB, by its size' });
    expect(await find()).toBe('sized');
    await imported('made', { circuit: 'window-post 2KiB', insecure: 'made by setup' });
    expect(await find()).toBe('made');
    await imported('official', { blake2b: OFFICIAL, insecure: undefined });
    expect(await find()).toBe('official');
  });

  it('is asked for where several serve, and not a damaged one where another is whole', async () => {
    const facts = { circuit: 'porep 2KiB', insecure: 'made by setup' };
    await imported('one', facts);
    await imported('two', facts);
    const find = store.resolveFor('porep', '2KiB');
    await expect(find).rejects.toThrow('one, two are all for porep 2KiB');
    await rm(join(sources, 'one.zkey'));
    expect((await store.resolveFor('porep', '2KiB')).name).toBe('two');
    await rm(join(sources, 'two.zkey'));
    await store.remove('one');
    await expect(store.resolveFor('porep', '2KiB')).rejects.toMatchObject({
      code: 'ERR_KEY_DAMAGED',
    });
  });
});

describe('damage', () => {
  /** Changes one byte and lets the file look untouched. */
  async function flip(path: string, at: number, modifiedMs: number): Promise<void> {
    const file = await open(path, 'r+');
    const { buffer } = await file.read(Buffer.alloc(1), 0, 1, at);
    await file.write(Buffer.from([(buffer[0] as number) ^ 1]), 0, 1, at);
    await file.close();
    await utimes(path, modifiedMs / 1000, modifiedMs / 1000);
  }

  it.each(['zkey', 'bellman'])('of a %s is found in each of its parts', async (format) => {
    const source = format === 'zkey' ? zkey : params;
    const key = await store.import(source, { name: 'key' }, progress);
    const parts = new Set(key.pieces.map(({ part }) => part));
    const rows = format === 'zkey' ? ['rows'] : [];
    expect([...parts].sort()).toEqual(
      ['a', 'bG1', 'bG2', 'h', 'header and verifying key', 'l', ...rows].sort(),
    );
    for (const { part, offset, length } of key.pieces) {
      const at = offset + length - 1;
      await flip(key.path, at, key.modifiedMs);
      const { damage } = await store.verify('key', progress);
      expect(damage).toBe(`other bytes in ${part}, between ${offset} and ${offset + length}`);
      await flip(key.path, at, key.modifiedMs);
    }
    expect((await store.verify('key', progress)).damage).toBeUndefined();
  });

  it('once found makes the key refused until it is whole again', async () => {
    const key = await store.import(zkey, { name: 'chain' }, progress);
    await flip(key.path, 1000, key.modifiedMs);
    expect((await store.verify('chain', progress)).damage).toContain('other bytes in');
    await utimes(key.path, key.modifiedMs / 1000, key.modifiedMs / 1000);
    await expect(store.resolve('chain')).rejects.toMatchObject({
      code: 'ERR_KEY_DAMAGED',
      message: expect.stringContaining('got other bytes in'),
    });
    await store.import(zkey, {}, progress);
    expect(await readFile(key.path)).toEqual(await readFile(zkey));
    expect((await store.resolve('chain')).damage).toBeUndefined();
    expect((await store.verify('chain', progress)).damage).toBeUndefined();
  });

  it('of a shorter, a longer and a missing file is seen without reading it', async () => {
    const key = await store.import(params, { name: 'tiny' }, progress);
    const seen = async () => {
      await expect(store.resolve('tiny')).rejects.toMatchObject({ code: 'ERR_KEY_DAMAGED' });
      return (await store.verify('tiny', progress)).damage;
    };
    const l = key.pieces.find(({ part }) => part === 'l');
    await truncate(key.path, l?.offset);
    expect(await seen()).toBe(
      `a file that ends after ${l?.offset} of ${key.bytes} bytes, in ${l?.part}`,
    );
    await copyFile(params, key.path);
    await appendFile(key.path, 'x');
    expect(await seen()).toBe(`a file of ${key.bytes + 1} bytes instead of ${key.bytes}`);
    await rm(key.path);
    expect(await seen()).toBe('no file');
    await store.import(params, {}, progress);
    expect(await store.resolve('tiny')).toMatchObject({ digest: key.digest });
  });

  it('is suspected of a file that was touched, or moved with its store, until it is read', async () => {
    const moved = join(sources, 'moved');
    for (const link of [false, true]) {
      const path = join(sources, `touched-${link}.params`);
      await copyFile(params, path);
      const key = await store.import(path, { name: 'tiny', link }, progress);
      await utimes(key.path, new Date(), new Date());
      await expect(store.resolve('tiny')).rejects.toThrow('a file that was changed or replaced');
      expect((await store.verify('tiny', progress)).damage).toBeUndefined();
      expect(await store.resolve('tiny')).toMatchObject({ digest: key.digest });
      await cp(folder, moved, { recursive: true });
      const elsewhere = new KeyStore(moved, inspector, () => 0);
      expect((await elsewhere.verify('tiny', progress)).damage).toBeUndefined();
      expect(await elsewhere.resolve('tiny')).toMatchObject({ digest: key.digest });
      await rm(moved, { recursive: true });
      await store.remove('tiny');
    }
  });

  it('is suspected of a linked file that another took the place of', async () => {
    const path = join(sources, 'replaced.params');
    await copyFile(params, path);
    const key = await store.import(path, { name: 'tiny', link: true }, progress);
    const other = join(sources, 'other');
    await writeFile(other, Buffer.alloc(key.bytes));
    await utimes(other, key.modifiedMs / 1000, key.modifiedMs / 1000);
    await rename(other, path);
    await expect(store.resolve('tiny')).rejects.toMatchObject({ code: 'ERR_KEY_DAMAGED' });
    const { damage, path: place } = await store.verify('tiny', progress);
    expect(place).toBe(path);
    expect(damage).toContain('other bytes in header and verifying key, between 0 and');
  });

  it.each([
    ['another text', (path: string) => writeFile(path, '{}')],
    ['none', (path: string) => rm(path)],
    ['a link', (path: string) => rm(path).then(() => symlink('/etc/hostname', path))],
    ['a device', (path: string) => rm(path).then(() => symlink('/dev/zero', path))],
    ['a folder', (path: string) => rm(path).then(() => mkdir(path))],
    ['too long a text', (path: string) => truncate(path, 2 ** 21)],
  ])('of a record (%s) hides no other key and is mended by an import', async (_, damage) => {
    const other = await store.import(params, { name: 'other' }, progress);
    const key = await store.import(zkey, { name: 'chain' }, progress);
    await damage(join(folder, key.digest, 'meta.json'));
    expect(await store.list()).toEqual([other]);
    expect(await store.unreadable()).toMatchObject([{ name: 'chain', digest: key.digest }]);
    await expect(store.resolve('chain')).rejects.toMatchObject({ code: 'ERR_KEY_DAMAGED' });
    expect((await store.verify('chain', progress)).damage).toContain('no record');
    await store.import(zkey, {}, progress);
    expect(await store.resolve('chain')).toMatchObject({ digest: key.digest });
    await damage(join(folder, key.digest, 'meta.json'));
    expect(await store.remove('chain')).toMatchObject({ digest: key.digest });
    expect(await entries()).toEqual([other.digest]);
  });
});

describe('remove', () => {
  it('takes the names along, and leaves a key that unsettled jobs need', async () => {
    const { digest } = await store.import(zkey, { name: 'one' }, progress);
    await store.import(zkey, { name: 'two' }, progress);
    needed = 3;
    await expect(store.remove('one')).rejects.toThrow(
      'key: expected one that no unsettled job needs (or --force), got one that 3 need',
    );
    expect(await store.resolve('two')).toMatchObject({ digest });
    await store.remove('one', true);
    for (const name of ['one', 'two', digest]) {
      await expect(store.resolve(name)).rejects.toMatchObject({ code: 'ERR_KEY_UNKNOWN' });
    }
    expect(await readdir(join(folder, 'names'))).toEqual([]);
    expect(await entries()).toEqual([]);
  });
});

it('knows nothing of what is not in it', async () => {
  for (const name of ['nothing', '../../etc/passwd', '0'.repeat(64), '01234567', '', '\0']) {
    await expect(store.resolve(name)).rejects.toMatchObject({ code: 'ERR_KEY_UNKNOWN' });
  }
  await mkdir(join(folder, 'names'), { recursive: true });
  for (const [name, target] of [
    ['link', '/etc/hostname'],
    ['device', '/dev/zero'],
    ['gone', '/nowhere'],
  ] as const) {
    await symlink(target, join(folder, 'names', name));
    await expect(store.resolve(name)).rejects.toMatchObject({ code: 'ERR_KEY_UNKNOWN' });
  }
  await writeFile(join(folder, '0'.repeat(64)), 'a file where a folder should be');
  await symlink('/nowhere', join(folder, '1'.repeat(64)));
  expect(await store.list()).toEqual([]);
  expect(await store.unreadable()).toMatchObject([{ digest: '0'.repeat(64) }]);
});

it('says what it cannot read or write', async () => {
  await writeFile(folder, 'a file where the store should be');
  const storage = { code: 'ERR_STORAGE' };
  await expect(store.list()).rejects.toMatchObject(storage);
  await expect(store.resolve('chain')).rejects.toMatchObject(storage);
  await expect(store.import(zkey, {}, progress)).rejects.toMatchObject(storage);
});

async function unwanted(): Promise<never> {
  throw new Error('not to be read');
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
}
