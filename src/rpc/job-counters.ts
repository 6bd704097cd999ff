import type { EventStream } from '../telemetry/events.ts';

/**
 * Counts settled jobs by kind, from the event stream, so that it forgets none that the store
 * forgets.
 */
export class JobCounters {
  readonly #kinds = new Map<string, string>();
  readonly #completed = new Map<string, number>();
  readonly #failed = new Map<string, number>();

  constructor(events: EventStream) {
    events.subscribe(({ event, jobId, attributes }) => {
      if (event === 'JOB_START') this.#kinds.set(jobId, String(attributes?.kind));
      if (event === 'JOB_END') this.#settle(jobId, attributes?.state);
    });
  }

  snapshot() {
    return {
      total_completed: total(this.#completed),
      total_failed: total(this.#failed),
      completed_by_kind: Object.fromEntries(this.#completed),
      failed_by_kind: Object.fromEntries(this.#failed),
    };
  }

  #settle(jobId: string, state: unknown): void {
    const kind = this.#kinds.get(jobId);
    this.#kinds.delete(jobId);
    const counts = state === 'completed' ? this.#completed : this.#failed;
    if (kind !== undefined && (state === 'completed' || state === 'failed')) {
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
  }
}

function total(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, n) => sum + n, 0);
}
