import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { keepChainKey } from '../support/chain-files.ts';
import { serve } from '../support/command.ts';
import {
  connections,
  jobs,
  type Load,
  largeBodies,
  slowLoris,
  stalled,
  together,
  uploads,
} from './loads.ts';
import { expectWithinLimits, type Measured, measure, table } from './measure.ts';

const UPLOAD_BYTES = 51_000_000;
const LOADS: readonly [string, Load][] = [
  ['none', () => sleep(5000, '')],
  ['1,000 connections', connections(1000, 20)],
  ['20 uploads at once', uploads(20, UPLOAD_BYTES)],
  ['500 jobs', jobs(500)],
  ['500 jobs during uploads', together(jobs(500), uploads(20, UPLOAD_BYTES))],
  ['400 slow clients', slowLoris(200, 65)],
  ['200 stalled clients', stalled(200, 65)],
  ['large bodies', largeBodies(5)],
  ['all of it', together(connections(1000, 30), uploads(20, UPLOAD_BYTES), slowLoris(200, 30))],
];

it('answers within its limits under load', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'proofline-load-'));
  await keepChainKey(folder);
  await using service = await serve(folder, {
    PROOFLINE_REQUESTS_PER_MINUTE: '1000000',
    PROOFLINE_LOG_LEVEL: 'error',
  });
  const rows: Measured[] = [];
  for (const [name, load] of LOADS) rows.push(await measure(name, service, load));
  console.log(table(rows));
  expect(service.stderr()).toBe('');
  expect(await service.stop('SIGTERM')).toBe(0);
  await rm(folder, { recursive: true });
  for (const row of rows) expectWithinLimits(row);
  const told = rows.map(({ done }) => done).join('\n');
  expect(told).toContain('200 of 200 slow headers and 200 of 200 slow bodies cut off');
  expect(told).toContain('200 of 200 stalled bodies cut off');
  expect(told).toContain('20 of 20 uploads of 51 MB stored');
});
