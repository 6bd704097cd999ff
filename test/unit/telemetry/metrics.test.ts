import { expect, it } from 'vitest';
import type { Micros } from '../../../src/core/units.ts';
import type { ProverEvent } from '../../../src/telemetry/events.ts';
import { Metrics } from '../../../src/telemetry/metrics.ts';

const at = (seconds: number, event: ProverEvent['event'], rest: Partial<ProverEvent> = {}) => ({
  atMicros: (seconds * 1e6) as Micros,
  event,
  jobId: 'a',
  ...rest,
});
const metrics = new Metrics({
  queueDepth: () => 3,
  queueAgeSeconds: () => 1.5,
  hosts: () => [{ backend: 'cpu', device: '0', restarts: 2 }],
});

it('counts jobs by state and kind and times stages by backend and kind', async () => {
  metrics.listener(at(1, 'JOB_START', { attributes: { kind: 'porep' } }));
  metrics.listener(at(2, 'GPU_START', { device: 'cpu:0' }));
  metrics.listener(at(2.25, 'GPU_PICKUP'));
  metrics.listener(at(3, 'GPU_END', { device: 'cpu:0' }));
  metrics.listener(at(4, 'JOB_END', { attributes: { state: 'completed' } }));
  metrics.listener(at(5, 'NTT_END'));
  const lines = (await metrics.text()).split('\n');
  expect(lines).toContain('proofline_jobs_total{state="completed",kind="porep"} 1');
  const gpu = 'stage="GPU",backend="cpu",kind="porep"';
  expect(lines).toContain(`proofline_stage_seconds_sum{${gpu}} 1`);
  expect(lines).toContain(`proofline_stage_seconds_bucket{le="0.5",${gpu}} 0`);
  const job = 'stage="JOB",backend="",kind="porep"';
  expect(lines).toContain(`proofline_stage_seconds_sum{${job}} 3`);
  expect(lines.some((line) => line.includes('stage="NTT"'))).toBe(false);
});

it('asks for the queue, the hosts and the event loop when it is read', async () => {
  const text = await metrics.text();
  expect(text).toContain('proofline_queue_depth 3');
  expect(text).toContain('proofline_queue_age_seconds 1.5');
  expect(text).toContain('proofline_device_host_restarts{backend="cpu",device="0"} 2');
  expect(text).toMatch(/nodejs_eventloop_lag_p99_seconds /);
  expect(metrics.contentType).toMatch(/^text\/plain; version=0.0.4/);
});
