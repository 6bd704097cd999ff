import { describe, expect, it } from 'vitest';
import type { Micros } from '../../../src/core/units.ts';
import { timelineOf } from '../../../src/trace/timeline.ts';
import { timingsOf } from '../../../src/trace/timings.ts';
import { drawn } from './drawn.ts';

describe('timelineOf', () => {
  it('counts milliseconds from the first start', () => {
    const events = drawn(`
      JOB             ├─────────┤
      GPU p0 w0 @cpu:0  ├───┤ ERR_CANCELLED`);
    expect(timelineOf('j', events)).toEqual({
      job_id: 'j',
      started_at: '1970-01-01T00:00:05.000Z',
      total_ms: 10,
      running: false,
      stages: [
        {
          stage: 'JOB',
          lane: 'service',
          depth: 0,
          parent: null,
          start_ms: 0,
          end_ms: 10,
          ms: 10,
          share: 1,
        },
        {
          stage: 'GPU',
          lane: 'device',
          depth: 1,
          parent: 0,
          partition: 0,
          worker: 0,
          device: 'cpu:0',
          start_ms: 2,
          end_ms: 6,
          ms: 4,
          share: 0.4,
          error: 'ERR_CANCELLED',
        },
      ],
    });
  });

  it('says what runs, until now', () => {
    const timeline = timelineOf('j', drawn('JOB ├──\nGPU  ├─'), 5_008_000 as Micros);
    expect(timeline).toMatchObject({ running: true, total_ms: 8 });
    expect(timeline.stages.map(({ ms, end_ms }) => [ms, end_ms])).toEqual([
      [8, null],
      [7, null],
    ]);
  });

  it('is empty before the first event', () => {
    expect(timelineOf('j', [])).toEqual({
      job_id: 'j',
      started_at: null,
      total_ms: 0,
      running: false,
      stages: [],
    });
  });

  it('survives JSON', () => {
    const timeline = timelineOf('j', drawn('JOB ├──\nGPU  ├─'));
    expect(JSON.parse(JSON.stringify(timeline))).toEqual(timeline);
  });
});

describe('timingsOf', () => {
  it('adds up partitions and leaves out what runs', () => {
    const events = drawn(`
      JOB       ├────────
      QUEUE     ├─┤
      SYNTH p0    ├───┤
      SYNTH p1    ├────┤
      GPU p0          ├──┤
      GPU p1             ├──`);
    expect(timingsOf(events)).toEqual({ queue_ms: 2, synth_ms: 9, gpu_ms: 3 });
  });

  it("calls the job's own time total_ms", () => {
    expect(timingsOf(drawn('JOB ├──┤\nMSM_B_G1 ├┤'))).toEqual({ total_ms: 3, msm_b_g1_ms: 1 });
  });
});
