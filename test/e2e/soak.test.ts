import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { soak } from '../soak/soak.ts';
import { keepChainKey } from '../support/chain-files.ts';
import { serve } from '../support/command.ts';

it('loses nothing and does nothing twice while it is killed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'proofline-soak-'));
  await keepChainKey(folder);
  await soak({ folder, jobs: 40, serverKills: 3, hostKills: 3, random: Math.random });
  await rm(folder, { recursive: true });
}, 120_000);

it('keeps a second service out of a data folder', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'proofline-two-'));
  await using first = await serve(folder);
  await expect(serve(folder)).rejects.toThrow('one that another proofline serves');
  await first.stop('SIGKILL');
  await using second = await serve(folder);
  expect(await second.stop('SIGTERM')).toBe(0);
  await rm(folder, { recursive: true });
});
