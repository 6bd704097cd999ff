import { describe, expect, it } from 'vitest';
import type { Micros } from '../../../src/core/units.ts';
import type { ProverEvent } from '../../../src/telemetry/events.ts';
import { stagesOf } from '../../../src/trace/stages.ts';
import { drawn } from './drawn.ts';

const ZERO = 5_000_000;

/** One line a stage: indented name, where it ran in ms, its share, and what is special about it. */
function told(events: readonly ProverEvent[], zeroMicros = ZERO): string[] {
  return stagesOf(events).map((span) => {
    const end = span.endMicros === undefined ? '' : (span.endMicros - zeroMicros) / 1000;
    return [
      '  '.repeat(span.depth) + span.stage,
      ...(span.partition === undefined ? [] : [`p${span.partition}`]),
      `${(span.startMicros - zeroMicros) / 1000}-${end}`,
      `${Math.round(span.share * 100)}%`,
      ...(span.error === undefined ? [] : [span.error]),
      ...(span.unfinished === true ? ['unfinished'] : []),
    ].join(' ');
  });
}

const WHOLE = `
  JOB      ├───────────────────┤
  QUEUE    ├─┤
  SRS_LOAD   ├───┤
  H2D          ├─┤
  SYNTH          ├──┤
  STAGE             ├┤
  GPU                ├─────┤
  NTT                ├──┤
  MSM_H                 ├┤
  MSM_A                  ├─┤
  FINISH                   ├┤
  VERIFY                    ├──┤`;

const WHOLE_TOLD = [
  'JOB 0-20 100%',
  '  QUEUE 0-2 10%',
  '  SRS_LOAD 2-6 20%',
  '    H2D 4-6 10%',
  '  SYNTH 6-9 15%',
  '  STAGE 9-10 5%',
  '  GPU 10-16 30%',
  '    NTT 10-13 15%',
  '    MSM_H 13-14 5%',
  '    MSM_A 14-16 10%',
  '  FINISH 16-17 5%',
  '  VERIFY 17-20 15%',
];

describe('stagesOf', () => {
  it('nests a whole job', () => {
    expect(told(drawn(WHOLE))).toEqual(WHOLE_TOLD);
  });

  it('does not depend on when a stage is reported', () => {
    const events = drawn(WHOLE);
    const late = events.filter(({ event }) => /^(H2D|NTT|MSM|STAGE)/.test(event));
    const live = events.filter((event) => !late.includes(event));
    expect(told([...live, ...late])).toEqual(WHOLE_TOLD);
  });

  it('takes a start at zero for a start', () => {
    const events = drawn('JOB ├────┤\nGPU ├──┤\nNTT ├─┤', 0);
    expect(told(events, 0)).toEqual(['JOB 0-5 100%', '  GPU 0-3 60%', '    NTT 0-2 40%']);
  });

  it('keeps stages apart that meet end to start', () => {
    const events = drawn(`
      JOB       ├────────┤
      GPU       ├───┤
      NTT       ├───┤
      GPU           ├────┤
      NTT           ├┤
      MSM_H          ├───┤`);
    expect(told(events)).toEqual([
      'JOB 0-9 100%',
      '  GPU 0-4 44%',
      '    NTT 0-4 44%',
      '  GPU 4-9 56%',
      '    NTT 4-5 11%',
      '    MSM_H 5-9 44%',
    ]);
  });

  it('keeps stages that took no time', () => {
    const events = drawn(`
      JOB    ├───┤
      QUEUE  ┼
      GPU    ├───┤
      NTT        ┼`);
    expect(told(events)).toEqual([
      'JOB 0-4 100%',
      '  QUEUE 0-0 0%',
      '  GPU 0-4 100%',
      '    NTT 4-4 0%',
    ]);
  });

  it('leaves what runs open', () => {
    const events = drawn(`
      JOB    ├───
      QUEUE  ├─┤
      GPU      ├───
      NTT      ├─┤
      MSM_H      ├───`);
    expect(told(events)).toEqual([
      'JOB 0- 100%',
      '  QUEUE 0-2 50%',
      '  GPU 2- 50%',
      '    NTT 2-4 50%',
      '    MSM_H 4- 0%',
    ]);
  });

  it('measures what runs until the given time', () => {
    const spans = stagesOf(drawn('JOB ├─\nGPU   ├─'), (ZERO + 10_000) as Micros);
    expect(spans.map(({ share }) => share)).toEqual([1, 0.8]);
  });

  it('ends a stage without an end where the stage around it ended', () => {
    const events = drawn(`
      JOB     ├──────────┤
      GPU       ├────┤ ERR_HOST_CRASHED
      NTT       ├─
      VERIFY            ├─`);
    expect(told(events)).toEqual([
      'JOB 0-11 100%',
      '  GPU 2-7 45% ERR_HOST_CRASHED',
      '    NTT 2-7 45% unfinished',
      '  VERIFY 10-11 9% unfinished',
    ]);
  });

  it('takes the retry of a stage that was lost for a stage of its own', () => {
    const events = drawn(`
      JOB     ├──────────┤
      GPU     ├──
      GPU         ├────┤`);
    expect(told(events)).toEqual(['JOB 0-11 100%', '  GPU 0-11 100% unfinished', '  GPU 4-9 45%']);
  });

  it('counts a stage once that host and backend both report', () => {
    const events = drawn(`
      JOB       ├───────────┤
      SRS_LOAD    ├───────┤
      SRS_LOAD      ├──┤
      H2D             ├┤`);
    expect(told(events)).toEqual(['JOB 0-12 100%', '  SRS_LOAD 2-10 67%', '    H2D 6-7 8%']);
  });

  it('nests the evaluation of rows where it happened', () => {
    const events = drawn(`
      JOB       ├───────┤
      SYNTH     ├─┤
      STAGE       ├────┤
      EVALUATE      ├─┤`);
    expect(told(events)).toEqual([
      'JOB 0-8 100%',
      '  SYNTH 0-2 25%',
      '  STAGE 2-7 63%',
      '    EVALUATE 4-6 25%',
    ]);
  });

  it('gives each partition, worker and device its own stages', () => {
    const events = drawn(`
      JOB              ├──────────────┤
      SYNTH p0         ├───┤
      SYNTH p1         ├────┤
      STAGE p0 @cpu:0      ├──┤
      GPU p0 w0 @cpu:0        ├────┤
      STAGE p1 @cpu:0         ├──┤
      H2D p1 @cpu:0            ├─┤
      NTT p0 w0 @cpu:0        ├─┤
      GPU p1 w1 @cpu:1           ├────┤
      NTT p1 w1 @cpu:1           ├─┤`);
    expect(told(events)).toEqual([
      'JOB 0-15 100%',
      '  SYNTH p0 0-4 27%',
      '  SYNTH p1 0-5 33%',
      '  STAGE p0 4-7 20%',
      '  GPU p0 7-12 33%',
      '    NTT p0 7-9 13%',
      '  STAGE p1 7-10 20%',
      '    H2D p1 8-10 13%',
      '  GPU p1 10-15 33%',
      '    NTT p1 10-12 13%',
    ]);
  });

  it('puts the second opinion of another backend inside RECHECK', () => {
    const events = drawn(`
      JOB                        ├───────────────┤
      GPU @cpu:0                 ├────┤
      VERIFY @cpu:0                   ├┤
      RECHECK @cpu:0                   ├─────────┤
      GPU @cpu-reference:0              ├──────┤
      NTT @cpu-reference:0              ├──┤
      VERIFY @cpu-reference:0                  ├─┤`);
    expect(told(events)).toEqual([
      'JOB 0-16 100%',
      '  GPU 0-5 31%',
      '  VERIFY 5-6 6%',
      '  RECHECK 6-16 63%',
      '    GPU 7-14 44%',
      '      NTT 7-10 19%',
      '    VERIFY 14-16 13%',
    ]);
  });

  it('keeps jobs apart', () => {
    const one = drawn('JOB ├───┤\nGPU  ├─┤', ZERO, 'one');
    const two = drawn('JOB ├───────┤\nGPU ├───┤', ZERO, 'two');
    const spans = stagesOf([...one, ...two]);
    expect(spans.map(({ jobId, stage, depth, share }) => [jobId, stage, depth, share])).toEqual([
      ['one', 'JOB', 0, 1],
      ['one', 'GPU', 1, 0.5],
      ['two', 'JOB', 0, 1],
      ['two', 'GPU', 1, 0.5],
    ]);
  });

  it('leaves out ends without starts and moments that are no stages', () => {
    const [start, end] = drawn('GPU ├──┤') as [ProverEvent, ProverEvent];
    expect(stagesOf([end])).toEqual([]);
    expect(stagesOf([{ ...start, event: 'GPU_QUEUE' }])).toEqual([]);
    expect(told([start, { ...start, event: 'GPU_PICKUP' }, end, end])).toEqual(['GPU 0-3 100%']);
  });

  it('does not let a stage end before it starts', () => {
    const [start, end] = drawn('GPU ├──┤') as [ProverEvent, ProverEvent];
    const early = { ...end, atMicros: (ZERO - 7) as Micros };
    expect(told([start, early])).toEqual(['GPU 0-0 0%']);
  });

  it('says who works', () => {
    const lanes = new Map(stagesOf(drawn(WHOLE)).map(({ stage, lane }) => [stage, lane]));
    expect(lanes.get('QUEUE')).toBe('service');
    expect(lanes.get('VERIFY')).toBe('service');
    expect(lanes.get('SYNTH')).toBe('host');
    expect(lanes.get('MSM_A')).toBe('device');
  });

  it('points to parents by index, each before its children', () => {
    const spans = stagesOf(drawn(WHOLE));
    expect(spans.map(({ parent }) => parent)).toEqual([undefined, 0, 0, 2, 0, 0, 0, 6, 6, 6, 0, 0]);
  });

  it('leaves its input as it was and is the same each time', () => {
    const events = drawn(WHOLE).map((event) => Object.freeze(event));
    const frozen = Object.freeze(events);
    expect(stagesOf(frozen)).toEqual(stagesOf(frozen));
  });

  it('draws ten thousand stages without a frame a stage', () => {
    const [start, end] = drawn('NTT ├┤') as [ProverEvent, ProverEvent];
    const events = Array.from({ length: 10_000 }, () => [start, end]).flat();
    expect(stagesOf(events)).toHaveLength(10_000);
  });
});
