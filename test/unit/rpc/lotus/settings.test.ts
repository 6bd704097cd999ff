import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadConfig } from '../../../../src/config.ts';
import { readLotusSettings } from '../../../../src/rpc/lotus/lotus.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const read = (environment: Record<string, string>) =>
  readLotusSettings(loadConfig({}, environment));
const MINER = { PROOFLINE_MINER_API: 't:/ip4/1.2.3.4/tcp/2345/http' };

it('is no worker of anybody by default', async () => {
  expect(await read({})).toEqual({ roles: ['seal'], parallel: 2 });
});

it('is what the settings say', async () => {
  const path = join(temporaryFolder(), 'secret');
  await writeFile(path, Buffer.alloc(32, 1).toString('base64'));
  const settings = await read({
    ...MINER,
    PROOFLINE_WORKER_URL: 'http://10.0.0.5:9830',
    PROOFLINE_WORKER_ROLES: 'winning-post,seal,seal',
    PROOFLINE_WORKER_PARALLEL: '9',
    PROOFLINE_LOTUS_SECRET_FILE: path,
  });
  expect(settings).toEqual({
    ...{ miner: { token: 't', url: 'http://1.2.3.4:2345' }, url: 'http://10.0.0.5:9830' },
    ...{ roles: ['winning-post', 'seal'], parallel: 9, secret: Buffer.alloc(32, 1) },
  });
});

it.each(['0.0.0.0:9830', '[::]:9830'])('needs its URL where it listens at %s', async (address) => {
  const listening = { ...MINER, PROOFLINE_LISTEN: address };
  await expect(read(listening)).rejects.toThrow(
    'worker_url: expected where the miner reaches this service, got none, while it listens at every address',
  );
  await read({ ...listening, PROOFLINE_WORKER_URL: 'http://10.0.0.5:9830' });
});

it.each([
  ['a secret that is missing', { PROOFLINE_LOTUS_SECRET_FILE: '/none' }, '/none: no such file'],
  ['a miner of another form', { PROOFLINE_MINER_API: 'x' }, 'miner_api: expected [token:]address'],
  ['another role', { PROOFLINE_WORKER_ROLES: 'mine' }, 'PROOFLINE_WORKER_ROLES: expected seal'],
  ['no role', { PROOFLINE_WORKER_ROLES: ',' }, 'PROOFLINE_WORKER_ROLES: expected'],
  ['a URL with a path', { PROOFLINE_WORKER_URL: 'http://a/b' }, 'expected a URL such as'],
])('refuses %s', async (_, environment: Record<string, string>, message) => {
  await expect(async () => read(environment)).rejects.toThrow(message);
});

it('refuses a secret file of something else', async () => {
  const path = join(temporaryFolder(), 'secret');
  await writeFile(path, 'hunter2');
  const failed = read({ PROOFLINE_LOTUS_SECRET_FILE: path });
  await expect(failed).rejects.toThrow(/secret: expected a jwt-hmac-secret/);
  await expect(failed).rejects.not.toThrow('hunter2');
});
