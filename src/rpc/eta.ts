import type { Micros } from '../core/units.ts';
import type { Job } from '../jobs/job.ts';
import type { EventStream } from '../telemetry/events.ts';

/** Kinds of job whose running times are remembered. */
const KEYS_MAX = 1000;
/** Running times remembered of each. */
const TIMES_A_KEY = 9;

/** How long jobs of a key and so many partitions ran, and so how much longer one will. */
export class Eta {
  readonly #keyOfJob = new Map<string, { key: string; started?: Micros }>();
  readonly #secondsOfKey = new Map<string, number[]>();

  constructor(events: EventStream) {
    events.subscribe(({ event, jobId, atMicros, attributes }) => {
      const job = this.#keyOfJob.get(jobId);
      if (event === 'JOB_START') {
        const key = `${attributes?.keyDigest} ${attributes?.partitions ?? 1}`;
        this.#keyOfJob.set(jobId, { key });
      }
      if (event === 'QUEUE_END' && job !== undefined) job.started ??= atMicros;
      else if (event === 'JOB_END' && job !== undefined) {
        this.#keyOfJob.delete(jobId);
        if (attributes?.state === 'completed' && job.started !== undefined) {
          this.#remember(job.key, (atMicros - job.started) / 1e6);
        }
      }
    });
  }

  /** Seconds left of a running job; undefined before the first job like it has completed. */
  secondsLeft(job: Job, now: Micros): number | undefined {
    const key = this.#keyOfJob.get(job.id)?.key;
    const times = key === undefined ? undefined : this.#secondsOfKey.get(key);
    if (times === undefined || job.state !== 'running' || job.startedAt === undefined) return;
    const median = [...times].sort((x, y) => x - y)[times.length >> 1] as number;
    return Math.max(0, Math.round((median - (now - job.startedAt) / 1e6) * 10) / 10);
  }

  #remember(key: string, seconds: number): void {
    const times = [...(this.#secondsOfKey.get(key) ?? []), seconds].slice(-TIMES_A_KEY);
    this.#secondsOfKey.delete(key);
    this.#secondsOfKey.set(key, times);
    if (this.#secondsOfKey.size > KEYS_MAX) {
      this.#secondsOfKey.delete(this.#secondsOfKey.keys().next().value as string);
    }
  }
}
