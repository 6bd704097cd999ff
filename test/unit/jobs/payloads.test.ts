import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { PayloadFolder } from '../../../src/jobs/payloads.ts';

let folder: string;
let used: string;
let store: PayloadFolder;
beforeEach(async () => {
  folder = join(await mkdtemp(join(tmpdir(), 'proofline-')), 'payloads');
  used = '';
  const inUse = (sha256: string) => sha256 === used;
  store = new PayloadFolder({ folder, bytesMax: 1000, inUse, sweepEveryMs: 0 });
});
afterEach(() => rm(join(folder, '..'), { recursive: true }));

async function* body(...chunks: string[]) {
  for (const chunk of chunks) yield Buffer.from(chunk);
}
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

it('stores a body under its digest, readable by this user alone', async () => {
  const info = await store.put(body('wit', 'ness'), 100);
  expect(info).toEqual({ sha256: sha256('witness'), bytes: 7 });
  expect(store.has(info.sha256)).toBe(true);
  expect((await stat(store.path(info.sha256))).mode & 0o777).toBe(0o600);
});

it('accepts a body of exactly the limit and keeps nothing of a larger one', async () => {
  await store.put(body('1234'), 4);
  await expect(store.put(body('1234', '5'), 4)).rejects.toMatchObject({ code: 'ERR_TOO_LARGE' });
  expect(await readdir(folder)).toEqual([sha256('1234')]);
});

it('keeps nothing of a body that breaks off', async () => {
  async function* broken() {
    yield Buffer.from('half');
    throw new Error('reset');
  }
  await expect(store.put(broken(), 100)).rejects.toThrow('reset');
  expect(await readdir(folder)).toEqual([]);
});

it('lets go of old payloads that no job needs', async () => {
  const [old, needed] = [await store.put(body('old'), 9), await store.put(body('needed'), 9)];
  used = needed.sha256;
  const before = new Date(Date.now() - 2 * 3_600_000);
  for (const { sha256 } of [old, needed]) await utimes(store.path(sha256), before, before);
  await store.put(body('new'), 9);
  expect(store.has(old.sha256)).toBe(false);
  expect(store.has(needed.sha256)).toBe(true);
});

it('uploads do not sweep each time', async () => {
  const rare = new PayloadFolder({ folder, bytesMax: 1000, inUse: () => false });
  const old = await rare.put(body('old'), 9);
  const before = new Date(Date.now() - 2 * 3_600_000);
  await utimes(rare.path(old.sha256), before, before);
  await rare.put(body('new'), 9);
  expect(rare.has(old.sha256)).toBe(true);
  await rare.sweep();
  expect(rare.has(old.sha256)).toBe(false);
});

it('gives back what it was given', async () => {
  const { sha256 } = await store.put(body('some', 'bytes'), 9);
  const chunks: Uint8Array[] = [];
  for await (const chunk of store.read(sha256)) chunks.push(chunk);
  expect(Buffer.concat(chunks).toString()).toBe('somebytes');
  const unknown = store.read(sha256.replace(/./g, '0')).next();
  await expect(unknown).rejects.toMatchObject({ code: 'ERR_PAYLOAD_UNKNOWN' });
  expect(() => store.path('../keys')).toThrow();
});

it('sweeps without an upload too, also before there is a folder', async () => {
  await store.sweep();
  const { sha256 } = await store.put(body('old'), 9);
  await store.sweep();
  expect(store.has(sha256)).toBe(true);
  const before = new Date(Date.now() - 2 * 3_600_000);
  await utimes(store.path(sha256), before, before);
  await store.sweep();
  expect(store.has(sha256)).toBe(false);
});

it('counts an old payload once, however many uploads find it', async () => {
  const large = await store.put(body('x'.repeat(900)), 1000);
  const before = new Date(Date.now() - 2 * 3_600_000);
  await utimes(store.path(large.sha256), before, before);
  await Promise.all(['a', 'b', 'c', 'd'].map((text) => store.put(body(text), 9)));
  const fill = (bytes: number) => store.put(body('y'.repeat(bytes)), 1000);
  await expect(fill(997)).rejects.toMatchObject({ code: 'ERR_STORAGE' });
  await fill(996);
});

it('a payload that is used while old ones are swept is either there or said to be gone', async () => {
  const before = new Date(Date.now() - 2 * 3_600_000);
  for (let i = 0; i < 50; i++) {
    const { sha256 } = await store.put(body('same'), 9);
    await utimes(store.path(sha256), before, before);
    const swept = store.sweep();
    const used = await store.use(sha256).then(
      () => true,
      () => false,
    );
    await swept;
    expect(store.has(sha256)).toBe(used);
  }
});

it('bounds all payloads together, and counts the same bytes once', async () => {
  const large = 'x'.repeat(600);
  await store.put(body(large), 1000);
  await store.put(body(large.slice(0, 300), large.slice(300)), 1000).catch(() => {});
  await store.put(body('y'.repeat(400)), 1000);
  await expect(store.put(body('z'), 1000)).rejects.toMatchObject({
    code: 'ERR_STORAGE',
    message: expect.stringContaining('at most 1000 bytes'),
  });
  const again = new PayloadFolder({ folder, bytesMax: 1000, inUse: () => true });
  await expect(again.put(body('z'), 1000)).rejects.toMatchObject({ code: 'ERR_STORAGE' });
});

it('removes what an earlier process has left half written', async () => {
  await store.put(body('whole'), 9);
  await writeFile(join(folder, 'partial-1'), 'half');
  const next = new PayloadFolder({ folder, bytesMax: 1000, inUse: () => true });
  await next.put(body('more'), 9);
  expect((await readdir(folder)).sort()).toEqual([sha256('whole'), sha256('more')].sort());
});

it('says that the disk refused, and keeps nothing', async () => {
  await rm(folder, { recursive: true, force: true });
  await writeFile(folder, 'a file where the folder should be');
  await expect(store.put(body('w'), 9)).rejects.toMatchObject({
    code: 'ERR_STORAGE',
    message: 'payloads: cannot write: EEXIST',
  });
});
