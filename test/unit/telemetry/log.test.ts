import { expect, it } from 'vitest';
import type { Micros } from '../../../src/core/units.ts';
import { createLog, logJobs } from '../../../src/telemetry/log.ts';

function record(level: 'info' | 'debug') {
  const lines: string[] = [];
  const log = createLog(level, { write: (line) => void lines.push(line) });
  return { log, lines: () => lines.map((line) => JSON.parse(line)) };
}
const base = { atMicros: 5 as Micros, jobId: 'a' };

it('writes the life of a job under its trace', () => {
  const { log, lines } = record('info');
  const listener = logJobs(log);
  const attributes = { traceId: 't', kind: 'circom', keyDigest: 'k', parentSpanId: 'p' };
  listener({ ...base, event: 'JOB_START', attributes });
  listener({ ...base, event: 'NTT_START' });
  listener({ ...base, event: 'JOB_END', attributes: { state: 'failed', error: 'ERR_FORMAT' } });
  const time = expect.any(String);
  const job = { level: 'info', time, job_id: 'a', trace_id: 't' };
  expect(lines()).toEqual([
    { ...job, msg: 'job accepted', kind: 'circom', key_digest: 'k', parent_span_id: 'p' },
    { ...job, msg: 'job settled', state: 'failed', error: 'ERR_FORMAT' },
  ]);
});

it('changes its level while it runs', () => {
  const { log, lines } = record('info');
  const listener = logJobs(log);
  log.level = 'debug';
  listener({ ...base, event: 'GPU_START', device: 'cpu:0' });
  expect(lines()).toMatchObject([{ level: 'debug', event: 'GPU_START', device: 'cpu:0' }]);
});

it('cuts tokens out', () => {
  const { log, lines } = record('info');
  log.info({ headers: { authorization: 'Bearer secret' }, token: 'secret' }, 'request');
  expect(JSON.stringify(lines())).not.toContain('secret');
});
