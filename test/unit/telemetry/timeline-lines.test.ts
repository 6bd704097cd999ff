import { describe, expect, it } from 'vitest';
import type { Micros } from '../../../src/core/units.ts';
import type { ProverEvent } from '../../../src/telemetry/events.ts';
import { TimelineLines } from '../../../src/telemetry/timeline-lines.ts';

const ENGINE_START = 1_000_000_000 as Micros;

function lines(events: readonly (Partial<ProverEvent> & Pick<ProverEvent, 'event'>)[]): string[] {
  const written: string[] = [];
  const timeline = new TimelineLines(ENGINE_START, (line) => written.push(line));
  for (const [i, event] of events.entries()) {
    const atMicros = (ENGINE_START + i * 1_500_700) as Micros;
    timeline.listener({ atMicros, jobId: 'porep-1000-9', ...event });
  }
  return written;
}

describe('TimelineLines', () => {
  it('calls a job as its client does', () => {
    const named = { jobId: 'f81d', attributes: { kind: 'porep', label: 'porep-1000-9' } };
    expect(
      lines([
        { event: 'JOB_START', ...named },
        { event: 'SYNTH_START', jobId: 'f81d', partition: 0 },
      ]),
    ).toEqual([
      'TIMELINE,0,JOB_START,porep-1000-9,kind=porep',
      'TIMELINE,1500,SYNTH_START,porep-1000-9,partition=0',
    ]);
  });

  it('prints the eight forms that cuzk prints', () => {
    const place = { partition: 3, worker: 1 };
    const monolithic = { jobId: 'ps-wpost-1', worker: 0 };
    expect(
      lines([
        { event: 'SYNTH_START', partition: 3 },
        { event: 'SYNTH_END', partition: 3 },
        { event: 'GPU_QUEUE', partition: 3 },
        { event: 'GPU_PICKUP', ...place },
        { event: 'GPU_START', ...place },
        { event: 'GPU_END', ...place },
        { event: 'SYNTH_START', jobId: 'ps-wpost-1', attributes: { kind: 'window-post' } },
        { event: 'SYNTH_END', jobId: 'ps-wpost-1' },
        { event: 'GPU_QUEUE', jobId: 'ps-wpost-1' },
        { event: 'GPU_PICKUP', ...monolithic },
        { event: 'GPU_START', ...monolithic },
        { event: 'GPU_END', ...monolithic },
      ]),
    ).toEqual([
      'TIMELINE,0,SYNTH_START,porep-1000-9,partition=3',
      'TIMELINE,1500,SYNTH_END,porep-1000-9,partition=3,synth_ms=1500',
      'TIMELINE,3001,GPU_QUEUE,porep-1000-9,partition=3',
      'TIMELINE,4502,GPU_PICKUP,porep-1000-9,worker=1,partition=3',
      'TIMELINE,6002,GPU_START,porep-1000-9,worker=1,partition=3',
      'TIMELINE,7503,GPU_END,porep-1000-9,worker=1,partition=3,gpu_ms=1500',
      'TIMELINE,9004,SYNTH_START,ps-wpost-1,kind=window-post',
      'TIMELINE,10504,SYNTH_END,ps-wpost-1,synth_ms=1500',
      'TIMELINE,12005,GPU_QUEUE,ps-wpost-1,monolithic',
      'TIMELINE,13506,GPU_PICKUP,ps-wpost-1,worker=0',
      'TIMELINE,15007,GPU_START,ps-wpost-1,worker=0',
      'TIMELINE,16507,GPU_END,ps-wpost-1,worker=0,gpu_ms=1500',
    ]);
  });

  it('prints the finer stages in the same forms', () => {
    expect(
      lines([
        { event: 'JOB_START', attributes: { kind: 'circom', traceId: '00' } },
        { event: 'QUEUE_START' },
        { event: 'QUEUE_END' },
        { event: 'MSM_B_G2_START', partition: 0, worker: 0 },
        { event: 'MSM_B_G2_END', partition: 0, worker: 0 },
        { event: 'VERIFY_START', partition: 0, worker: 0 },
        { event: 'VERIFY_END', partition: 0, worker: 0 },
        { event: 'SYNTH_START' },
        { event: 'JOB_END' },
      ]),
    ).toEqual([
      'TIMELINE,0,JOB_START,porep-1000-9,kind=circom',
      'TIMELINE,1500,QUEUE_START,porep-1000-9,kind=circom',
      'TIMELINE,3001,QUEUE_END,porep-1000-9,queue_ms=1500',
      'TIMELINE,4502,MSM_B_G2_START,porep-1000-9,worker=0,partition=0',
      'TIMELINE,6002,MSM_B_G2_END,porep-1000-9,worker=0,partition=0,msm_b_g2_ms=1500',
      'TIMELINE,7503,VERIFY_START,porep-1000-9,partition=0',
      'TIMELINE,9004,VERIFY_END,porep-1000-9,partition=0,verify_ms=1500',
      'TIMELINE,10504,SYNTH_START,porep-1000-9,kind=circom',
      'TIMELINE,12005,JOB_END,porep-1000-9,job_ms=12005',
    ]);
  });

  it('says why a stage failed', () => {
    const attributes = { error: 'ERR_HOST_CRASHED' };
    expect(
      lines([
        { event: 'GPU_START', worker: 0 },
        { event: 'GPU_END', worker: 0, attributes },
      ])[1],
    ).toBe('TIMELINE,1500,GPU_END,porep-1000-9,worker=0,gpu_ms=1500,error=ERR_HOST_CRASHED');
  });

  it('measures each worker by its own start, in whole milliseconds', () => {
    expect(
      lines([
        { event: 'GPU_START', worker: 0, partition: 0, atMicros: ENGINE_START },
        { event: 'GPU_START', worker: 1, partition: 1, atMicros: (ENGINE_START + 700) as Micros },
        { event: 'GPU_END', worker: 0, partition: 0, atMicros: (ENGINE_START + 2_999) as Micros },
        { event: 'GPU_END', worker: 1, partition: 1, atMicros: (ENGINE_START + 2_999) as Micros },
      ]).slice(2),
    ).toEqual([
      'TIMELINE,2,GPU_END,porep-1000-9,worker=0,partition=0,gpu_ms=2',
      'TIMELINE,2,GPU_END,porep-1000-9,worker=1,partition=1,gpu_ms=2',
    ]);
  });

  it('prints a stage once that host and backend both report', () => {
    expect(
      lines([
        { event: 'FINISH_START', partition: 0 },
        { event: 'FINISH_START', partition: 0 },
        { event: 'FINISH_END', partition: 0 },
        { event: 'FINISH_END', partition: 0 },
      ]),
    ).toEqual([
      'TIMELINE,0,FINISH_START,porep-1000-9,partition=0',
      'TIMELINE,4502,FINISH_END,porep-1000-9,partition=0,finish_ms=4502',
    ]);
  });

  it('prints an end without a start, without a duration', () => {
    expect(lines([{ event: 'GPU_END' }])).toEqual(['TIMELINE,0,GPU_END,porep-1000-9,worker=0']);
  });

  it('keeps an id on its line, spaces and all', () => {
    expect(lines([{ event: 'GPU_QUEUE', jobId: 'wd post\n1' }])).toEqual([
      'TIMELINE,0,GPU_QUEUE,wd post?1,monolithic',
    ]);
  });
});
