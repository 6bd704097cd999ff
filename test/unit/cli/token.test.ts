import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { TokenStore } from '../../../src/rpc/tokens.ts';
import { command } from './fake.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proofline-token-'));
});
afterEach(() => rm(folder, { recursive: true }));

const token = (...argv: string[]) => command(['token', ...argv, '--data-dir', folder]);

it('creates, lists and revokes, and shows the token once', async () => {
  const made = await token('create', '--name', 'ci', '--scope', 'write', '--json');
  const created = JSON.parse(made.stdout);
  expect(created).toMatchObject({ name: 'ci', scope: 'write' });
  expect(new TokenStore(join(folder, 'tokens.json')).find(created.token)?.id).toBe(created.id);
  const { tokens } = JSON.parse((await token('list', '--json')).stdout);
  const { token: _, ...info } = created;
  expect(tokens).toEqual([info]);
  expect(Object.keys(info).sort()).toEqual(['created_at', 'id', 'name', 'scope']);
  const listed = await token('list');
  expect(listed.stdout).toContain('ci  write');
  expect(listed.stdout).not.toContain(created.token);
  expect(await token('revoke', 'ci')).toMatchObject({ code: 0 });
  expect((await token('list')).stdout).toBe('none: everyone on this machine is let in\n');
});

it('refuses an unknown scope, a missing name and an unknown token', async () => {
  for (const argv of [
    ['create', '--name', 'ci', '--scope', 'root'],
    ['create', '--scope', 'read'],
    ['revoke', 'nobody'],
  ]) {
    expect(await token(...argv)).toMatchObject({ code: 2, stdout: '' });
  }
});
