import { ProverError } from '../core/errors.ts';
import type { ProverEvent } from '../telemetry/events.ts';
import { isSettled, type Job, type JobState } from './job.ts';
import type { JobStore } from './store.ts';

/** Events kept of one job; a job emits about thirty. */
const EVENTS_MAX = 1000;

interface Entry {
  job: Job;
  readonly events: ProverEvent[];
}

/** Jobs in memory: every unsettled one, and the newest `settledMax` of the settled ones. */
export class MemoryJobStore implements JobStore {
  readonly #entries = new Map<string, Entry>();
  readonly #settledMax: number;

  constructor(settledMax: number) {
    this.#settledMax = settledMax;
  }

  insert(job: Job): void {
    this.#entries.set(job.id, { job, events: [] });
  }

  get(id: string): Job {
    return this.#entry(id).job;
  }

  update(id: string, from: readonly JobState[], change: Partial<Omit<Job, 'id'>>): Job {
    const entry = this.#entry(id);
    if (!from.includes(entry.job.state)) return entry.job;
    entry.job = { ...entry.job, ...change };
    if (isSettled(entry.job.state)) this.#forgetOldest();
    return entry.job;
  }

  appendEvent(event: ProverEvent): void {
    const events = this.#entries.get(event.jobId)?.events;
    if (events !== undefined && events.length < EVENTS_MAX) events.push(event);
  }

  events(id: string): readonly ProverEvent[] {
    return this.#entry(id).events;
  }

  list(limit: number): readonly Job[] {
    return [...this.#entries.values()]
      .slice(-limit)
      .map(({ job }) => job)
      .reverse();
  }

  count(state: JobState): number {
    let n = 0;
    for (const { job } of this.#entries.values()) if (job.state === state) n++;
    return n;
  }

  #entry(id: string): Entry {
    const entry = this.#entries.get(id);
    if (entry === undefined) throw new ProverError('ERR_JOB_UNKNOWN', { jobId: id });
    return entry;
  }

  #forgetOldest(): void {
    const settled = [...this.#entries.values()].filter(({ job }) => isSettled(job.state));
    for (const { job } of settled.slice(0, Math.max(0, settled.length - this.#settledMax))) {
      this.#entries.delete(job.id);
    }
  }
}
