import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'vitest';
import { keepChainKey } from '../support/chain-files.ts';
import { soak } from './soak.ts';

it('500 jobs, the service killed 20 times and its device hosts 10 times', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'proofline-soak-'));
  await keepChainKey(folder);
  await soak({ folder, jobs: 500, serverKills: 20, hostKills: 10, random: Math.random });
  await rm(folder, { recursive: true });
});
