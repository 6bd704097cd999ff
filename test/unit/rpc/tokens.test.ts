import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { includesScope, TokenStore } from '../../../src/rpc/tokens.ts';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proofline-tokens-'));
  path = join(folder, 'data', 'tokens.json');
});
afterEach(() => rm(folder, { recursive: true }));

it('finds a token by itself and stores its hash alone, for this user alone', async () => {
  const store = new TokenStore(path);
  const { token, info } = await store.create('ci', 'write');
  expect(store.find(token)).toEqual(info);
  expect(store.find(`${token}x`)).toBeUndefined();
  expect(store.find('')).toBeUndefined();
  expect(await readFile(path, 'utf8')).not.toContain(token.slice(4));
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

it('sees what another process creates and revokes', async () => {
  const [service, command] = [new TokenStore(path), new TokenStore(path)];
  expect(service.list()).toEqual([]);
  const { token, info } = await command.create('ci', 'read');
  expect(service.find(token)?.id).toBe(info.id);
  await command.revoke('ci');
  expect(service.find(token)).toBeUndefined();
  await expect(command.revoke('ci')).rejects.toMatchObject({ code: 'ERR_PARAMS' });
});

it('lets nobody in by a damaged file', async () => {
  const store = new TokenStore(path);
  const { token } = await store.create('ci', 'admin');
  for (const text of ['', '{}', '[{"id":1}]', (await readFile(path, 'utf8')).slice(0, -9)]) {
    await writeFile(path, text);
    expect(() => new TokenStore(path).find(token)).toThrow('tokens.json: expected the tokens');
  }
});

it('orders the scopes', () => {
  expect(includesScope('admin', 'write')).toBe(true);
  expect(includesScope('write', 'write')).toBe(true);
  expect(includesScope('read', 'write')).toBe(false);
});

it('keeps every token that is made at the same moment, and none that was revoked', async () => {
  const names = Array.from({ length: 8 }, (_, i) => `ci${i}`);
  await new TokenStore(path).create('gone', 'admin');
  await Promise.all([
    ...names.map((name) => new TokenStore(path).create(name, 'read')),
    new TokenStore(path).revoke('gone'),
  ]);
  expect(
    new TokenStore(path)
      .list()
      .map(({ name }) => name)
      .sort(),
  ).toEqual(names);
});

it.each(['', ' ', 'CI ', 'a/b', 'a'.repeat(65), 'taken'])('refuses the name "%s"', async (name) => {
  const store = new TokenStore(path);
  await store.create('taken', 'read');
  await expect(store.create(name, 'read')).rejects.toMatchObject({ code: 'ERR_PARAMS' });
});
