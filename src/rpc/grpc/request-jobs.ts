import { createHash } from 'node:crypto';
import { toProverError } from '../../core/errors.ts';
import { type FilecoinRequest, isSettled, type Job } from '../../jobs/job.ts';
import type { JobService } from '../../jobs/service.ts';

/** Jobs that are looked at when the service starts. */
const JOBS_SEEN_MAX = 10_000;
/** Names remembered before those are forgotten whose jobs are. */
const NAMES_MAX = 20_000;

/**
 * Which job a request id stands for: the newest of its requests. The same content again joins its
 * job, whether that waits, runs or is proved; other content is another job, for which the older one
 * is cancelled (a sector that was sealed anew).
 */
export class RequestJobs {
  readonly #jobs: JobService;
  readonly #newest = new Map<string, string>();

  /** Finds the names of jobs that an earlier process has taken. */
  constructor(jobs: JobService) {
    this.#jobs = jobs;
    for (const { id, request, state } of jobs.list({ limit: JOBS_SEEN_MAX })) {
      const { label } = request;
      if (label === undefined || request.idempotencyKey?.startsWith(OURS) !== true) continue;
      if (!this.#newest.has(label) && state !== 'cancelled') this.#newest.set(label, id);
    }
  }

  /** @throws what `JobService.submit` does, but for idempotency */
  async submit(request: FilecoinRequest, label: string): Promise<Job> {
    const content = [request.kind, request.statement, ...request.vanilla].join();
    const digest = createHash('sha256').update(content).digest('hex');
    const job = await this.#join({ ...request, label }, `${OURS}${digest}:${label}`);
    const before = this.#newest.get(label);
    this.#newest.set(label, job.id);
    if (before !== undefined && before !== job.id) this.#cancel(before);
    this.#forget();
    return job;
  }

  /** The job of a request id, or of one of our own ids; undefined: unknown. */
  find(id: string): Job | undefined {
    try {
      return this.#jobs.get(this.#newest.get(id) ?? id);
    } catch (thrown) {
      if (toProverError(thrown).code === 'ERR_JOB_UNKNOWN') return undefined;
      throw thrown;
    }
  }

  /** One that failed, was cancelled or had another key is no result: a new one takes its place. */
  async #join(request: FilecoinRequest, key: string): Promise<Job> {
    for (let attempt = 0; ; attempt++) {
      try {
        const job = await this.#jobs.submit({ ...request, idempotencyKey: `${key}:${attempt}` });
        if (job.state !== 'failed' && job.state !== 'cancelled') return job;
      } catch (thrown) {
        if (toProverError(thrown).code !== 'ERR_IDEMPOTENCY') throw thrown;
      }
    }
  }

  #cancel(id: string): void {
    const job = this.find(id);
    if (job !== undefined && !isSettled(job.state)) this.#jobs.cancel(id);
  }

  #forget(): void {
    if (this.#newest.size < NAMES_MAX) return;
    for (const [label] of this.#newest) {
      if (this.find(label) === undefined) this.#newest.delete(label);
    }
  }
}

/** What our idempotency keys begin with. */
const OURS = 'cuzk:';

/** What a job is called on this wire. */
export function wireName({ id, request }: Job): string {
  return request.label ?? id;
}
