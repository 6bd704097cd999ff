import { expect, it } from 'vitest';
import type { Micros } from '../../../src/core/units.ts';
import type { EventName } from '../../../src/telemetry/events.ts';
import { TimingLines } from '../../../src/telemetry/timing-lines.ts';

type Script = readonly (readonly [atMs: number, event: EventName])[];

function linesOf(script: Script, last: object = {}): string[] {
  const lines: string[] = [];
  const { listener } = new TimingLines((line) => void lines.push(line));
  for (const [atMs, event] of script) {
    const place = { jobId: 'j', partition: 0, worker: 1, device: 'cuda:0' };
    const extra = event === script.at(-1)?.[1] ? last : {};
    listener({ atMicros: (atMs * 1000) as Micros, event, ...place, ...extra });
  }
  return lines;
}

const PARTITION: Script = [
  [0, 'STAGE_START'],
  [40, 'STAGE_END'],
  [40, 'GPU_QUEUE'],
  [47.9, 'GPU_PICKUP'],
  [48, 'GPU_START'],
  [48, 'NTT_START'],
  [148, 'NTT_END'],
  [148, 'MSM_H_START'],
  [248, 'MSM_H_END'],
  [248, 'MSM_L_START'],
  [258, 'MSM_L_END'],
  [258, 'MSM_A_START'],
  [278, 'MSM_A_END'],
  [278, 'MSM_B_G1_START'],
  [308, 'MSM_B_G1_END'],
  [308, 'MSM_B_G2_START'],
  [398, 'MSM_B_G2_END'],
  [400, 'GPU_END'],
];

it('says of each partition what its device did', () => {
  expect(linesOf(PARTITION)).toEqual([
    'CUZK_TIMING: pre_lock_cpu_ms=40 mutex_wait_ms=7',
    'CUZK_TIMING: gpu_tid=1 ntt_msm_h_ms=200',
    'CUZK_TIMING: b_g2_msm_ms=90 num_circuits=1',
    'CUZK_TIMING: gpu_tid=1 tail_msm_ms=60 gpu_total_ms=352',
  ]);
});

it('says nothing of what was not reported, nor of what has failed', () => {
  const bare = PARTITION.filter(([, event]) => event.startsWith('GPU'));
  expect(linesOf(bare)).toEqual([]);
  expect(linesOf(PARTITION, { attributes: { error: 'ERR_CANCELLED' } })).toEqual([]);
});
