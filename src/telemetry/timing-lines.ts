import type { EventListener, ProverEvent, Stage } from './events.ts';
import { edgeOf } from './stage-pairs.ts';

/** Stages whose times a line adds up. */
const TAIL: readonly Stage[] = ['MSM_L', 'MSM_A', 'MSM_B_G1'];
/** Of one partition on its device. */
interface Times {
  readonly starts: Map<Stage, number>;
  readonly millis: Map<Stage, number>;
  queuedAtMicros?: number;
  waitMillis?: number;
}

/**
 * What a device did for a partition, as the lines that cuzk's kernels print, once it is done:
 *
 *     CUZK_TIMING: pre_lock_cpu_ms=N mutex_wait_ms=N       until the device was free for it
 *     CUZK_TIMING: gpu_tid=W ntt_msm_h_ms=N                transforms, and the sum over h
 *     CUZK_TIMING: b_g2_msm_ms=N num_circuits=1
 *     CUZK_TIMING: gpu_tid=W tail_msm_ms=N gpu_total_ms=N  the other sums, and all of it
 *
 * cuzk's other lines tell of steps that there are none of here. A line whose stages the backend did
 * not report is left out. Milliseconds are whole, rounded down.
 */
export class TimingLines {
  readonly #write: (line: string) => void;
  /** By job, then by partition and device. */
  readonly #open = new Map<string, Map<string, Times>>();

  /** @param write takes one line, without its line feed */
  constructor(write: (line: string) => void) {
    this.#write = write;
  }

  readonly listener: EventListener = (event) => {
    const edge = edgeOf(event);
    const times = this.#timesOf(event);
    if (event.event === 'GPU_QUEUE') times.queuedAtMicros = event.atMicros;
    if (event.event === 'GPU_PICKUP' && times.queuedAtMicros !== undefined) {
      times.waitMillis = (event.atMicros - times.queuedAtMicros) / 1000;
    }
    if (edge?.edge === 'start') times.starts.set(edge.stage, event.atMicros);
    if (edge?.edge === 'end') {
      const began = times.starts.get(edge.stage) ?? event.atMicros;
      const before = times.millis.get(edge.stage) ?? 0;
      times.millis.set(edge.stage, before + (event.atMicros - began) / 1000);
      if (edge.stage === 'GPU') {
        if (event.attributes?.error === undefined) this.#tell(event, times);
        times.millis.clear();
      }
    }
    if (event.event === 'JOB_END') this.#open.delete(event.jobId);
  };

  #tell({ worker = 0 }: ProverEvent, { millis, waitMillis }: Times): void {
    const sum = (...stages: readonly Stage[]) => {
      const known = stages.filter((stage) => millis.has(stage));
      if (known.length === 0) return undefined;
      return Math.floor(known.reduce((total, stage) => total + (millis.get(stage) ?? 0), 0));
    };
    const lines: readonly (readonly [line: string, ...times: (number | undefined)[]])[] = [
      ['pre_lock_cpu_ms=@ mutex_wait_ms=@', sum('STAGE'), waitMillis && Math.floor(waitMillis)],
      [`gpu_tid=${worker} ntt_msm_h_ms=@`, sum('NTT', 'MSM_H')],
      ['b_g2_msm_ms=@ num_circuits=1', sum('MSM_B_G2')],
      [`gpu_tid=${worker} tail_msm_ms=@ gpu_total_ms=@`, sum(...TAIL), sum('GPU')],
    ];
    for (const [line, ...values] of lines) {
      if (values.includes(undefined)) continue;
      let next = 0;
      this.#write(`CUZK_TIMING: ${line.replaceAll('@', () => String(values[next++]))}`);
    }
  }

  #timesOf({ jobId, partition, device }: ProverEvent): Times {
    const ofJob = this.#open.get(jobId) ?? new Map<string, Times>();
    this.#open.set(jobId, ofJob);
    const key = `${partition} ${device}`;
    const times = ofJob.get(key) ?? { starts: new Map(), millis: new Map() };
    ofJob.set(key, times);
    return times;
  }
}
