import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { TokenStore } from '../../../src/rpc/tokens.ts';
import { openTransport } from '../../../src/rpc/transport.ts';

let folder: string;
let tokens: TokenStore;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proofline-transport-'));
  tokens = new TokenStore(join(folder, 'tokens.json'));
});
afterEach(() => rm(folder, { recursive: true }));

const plain = { listen: '127.0.0.1:0', tlsCertFile: '', tlsKeyFile: '' };

it('listens beyond this machine only with tokens', async () => {
  const open = () => openTransport({ ...plain, listen: '0.0.0.0:0' }, tokens);
  await expect(open()).rejects.toMatchObject({ code: 'ERR_PARAMS', data: { subject: 'listen' } });
  await tokens.create('ci', 'read');
  expect((await open()).scheme).toBe('http');
  await tokens.revoke('ci');
  expect(tokens.list()).toEqual([]);
  expect(tokens.isOpen()).toBe(false);
});

it('does not start with tokens that cannot be read, also for this machine alone', async () => {
  await writeFile(join(folder, 'tokens.json'), '[{}]');
  await expect(openTransport(plain, tokens)).rejects.toMatchObject({ code: 'ERR_FORMAT' });
});

it('takes a certificate with its key only', async () => {
  const half = { ...plain, tlsCertFile: 'cert.pem' };
  await expect(openTransport(half, tokens)).rejects.toThrow('TLS: expected both');
});
