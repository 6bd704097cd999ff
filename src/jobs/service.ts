import { randomBytes, randomUUID } from 'node:crypto';
import { ProverError, toErrorRecord, toProverError } from '../core/errors.ts';
import { nowMicros } from '../core/units.ts';
import type {
  HostStatus,
  Pipeline,
  TaskListener,
  VerifyInput,
  VerifyOutcome,
} from '../pipeline/pipeline.ts';
import type { AttributeValue, EventName, EventStream, ProverEvent } from '../telemetry/events.ts';
import { isSettled, type Job, type JobRequest } from './job.ts';
import type { PayloadFolder } from './payloads.ts';
import type { JobStore } from './store.ts';

/** A stored key, as far as jobs care. */
export interface StoredKey {
  readonly path: string;
  readonly digest: string;
}

/**
 * snarkjs JSON as parsed, unchecked: the device host checks it. Either a stored key or a
 * verification key.
 */
export interface VerifyRequest {
  readonly key?: string;
  readonly verificationKey?: unknown;
  readonly proof: unknown;
  readonly public: unknown;
}

/** What the RPC room sees of jobs. */
export interface JobService {
  /**
   * Accepts a job and returns at once.
   * @throws ERR_KEY_UNKNOWN, ERR_PAYLOAD_UNKNOWN, ERR_BACKEND_UNAVAILABLE, ERR_QUEUE_FULL,
   * ERR_SHUTTING_DOWN
   */
  submit(request: JobRequest, options?: { readonly traceparent?: string }): Promise<Job>;
  /** @throws ERR_JOB_UNKNOWN */
  get(id: string): Job;
  /** Newest first. */
  list(limit: number): readonly Job[];
  /**
   * Resolves once the job is completed, failed or cancelled. Aborting stops the waiting, not the
   * job.
   */
  settled(id: string, signal?: AbortSignal): Promise<Job>;
  /**
   * Ends a queued or running job within a second; a settled one stays as it is. @throws
   * ERR_JOB_UNKNOWN
   */
  cancel(id: string): Job;
  /** @throws ERR_JOB_UNKNOWN */
  events(id: string): readonly ProverEvent[];
  /** Runs in a device host, never in the server's process. @throws ERR_FORMAT, ERR_KEY_UNKNOWN */
  verify(request: VerifyRequest, signal?: AbortSignal): Promise<VerifyOutcome>;
  /** Jobs that wait, and for how long the first of them has. */
  queue(): { readonly depth: number; readonly ageSeconds: number };
  /** Backends, devices and what each does now. */
  hosts(): readonly HostStatus[];
}

export interface JobsOptions {
  readonly store: JobStore;
  readonly pipeline: Pipeline;
  readonly payloads: PayloadFolder;
  readonly events: EventStream;
  readonly queueLimit: number;
  /** @throws ERR_KEY_UNKNOWN */
  findKey(nameOrDigest: string): Promise<StoredKey>;
}

export class Jobs implements JobService {
  readonly #options: JobsOptions;
  readonly #running = new Map<string, { abort: AbortController; done: Promise<void> }>();
  #closing = false;

  constructor(options: JobsOptions) {
    this.#options = options;
  }

  async submit(request: JobRequest, options: { traceparent?: string } = {}): Promise<Job> {
    const { store, pipeline, payloads, findKey, queueLimit } = this.#options;
    const key = await findKey(request.key);
    await pipeline.choose(request.backend);
    if (!payloads.has(request.payload)) {
      throw new ProverError('ERR_PAYLOAD_UNKNOWN', { sha256: request.payload });
    }
    await payloads.touch(request.payload);
    if (this.#closing) throw new ProverError('ERR_SHUTTING_DOWN', {});
    if (store.count('queued') >= queueLimit) {
      throw new ProverError('ERR_QUEUE_FULL', {
        limit: queueLimit,
        retryAfterSeconds: this.#secondsPerJob(),
      });
    }
    const parent = parseTraceparent(options.traceparent);
    const job: Job = {
      id: randomUUID(),
      request,
      state: 'queued',
      submittedAt: nowMicros(),
      progress: 0,
      traceId: parent?.traceId ?? randomBytes(16).toString('hex'),
    };
    store.insert(job);
    const abort = new AbortController();
    const done = this.#process(job, key, abort.signal, parent?.spanId);
    this.#running.set(job.id, { abort, done });
    return store.get(job.id);
  }

  get(id: string): Job {
    return this.#options.store.get(id);
  }

  list(limit: number): readonly Job[] {
    return this.#options.store.list(limit);
  }

  async settled(id: string, signal?: AbortSignal): Promise<Job> {
    const running = this.#running.get(id);
    if (running === undefined) return this.get(id);
    const stopped = new Promise<void>((resolve) =>
      signal?.addEventListener('abort', () => resolve(), { once: true }),
    );
    await Promise.race([running.done, stopped]);
    return this.get(id);
  }

  cancel(id: string): Job {
    this.get(id);
    this.#running.get(id)?.abort.abort();
    return this.#options.store.update(id, ['queued', 'running'], {
      state: 'cancelled',
      endedAt: nowMicros(),
    });
  }

  events(id: string): readonly ProverEvent[] {
    return this.#options.store.events(id);
  }

  async verify(request: VerifyRequest, signal?: AbortSignal): Promise<VerifyOutcome> {
    const { key, ...rest } = request;
    const params: VerifyInput =
      key === undefined ? rest : { ...rest, keyPath: (await this.#options.findKey(key)).path };
    return this.#options.pipeline.verify(params, signal);
  }

  queue() {
    const waiting = this.list(Number.MAX_SAFE_INTEGER).filter(({ state }) => state === 'queued');
    const first = waiting.at(-1)?.submittedAt ?? nowMicros();
    return { depth: waiting.length, ageSeconds: (nowMicros() - first) / 1e6 };
  }

  hosts(): readonly HostStatus[] {
    return this.#options.pipeline.hosts();
  }

  /** Whether an unsettled job needs the payload. */
  needsPayload(sha256: string): boolean {
    return [...this.#running.keys()].some((id) => this.get(id).request.payload === sha256);
  }

  /** Accepts nothing more, cancels what is left and waits until each job has settled. */
  async close(): Promise<void> {
    this.#closing = true;
    for (const id of this.#running.keys()) this.cancel(id);
    await Promise.all([...this.#running.values()].map(({ done }) => done));
  }

  async #process(
    job: Job,
    key: StoredKey,
    signal: AbortSignal,
    parentSpanId: string | undefined,
  ): Promise<void> {
    const { store, pipeline, payloads } = this.#options;
    const emit = (event: EventName, attributes?: Record<string, AttributeValue>) =>
      this.#emit({
        atMicros: nowMicros(),
        event,
        jobId: job.id,
        ...(attributes && { attributes }),
      });
    let queued = true;
    const leaveQueue = (error?: string) => {
      if (queued) emit('QUEUE_END', error === undefined ? undefined : { error });
      queued = false;
    };
    emit('JOB_START', {
      kind: job.request.kind,
      keyDigest: key.digest,
      traceId: job.traceId,
      ...(parentSpanId !== undefined && { parentSpanId }),
    });
    emit('QUEUE_START');
    const listener: TaskListener = {
      signal,
      started: () => {
        leaveQueue();
        store.update(job.id, ['queued'], { state: 'running', startedAt: nowMicros() });
      },
      event: (event) => this.#emit(event),
      progress: (progress) => void store.update(job.id, ['running'], { progress }),
    };
    try {
      const outcome = await pipeline.prove(
        {
          jobId: job.id,
          keyPath: key.path,
          keyDigest: key.digest,
          witness: { path: payloads.path(job.request.payload) },
          ...(job.request.backend !== undefined && { backend: job.request.backend }),
        },
        listener,
      );
      store.update(job.id, ['running'], {
        state: 'completed',
        endedAt: nowMicros(),
        progress: 1,
        outcome,
      });
    } catch (thrown) {
      const error = toProverError(thrown);
      leaveQueue(error.code);
      const state = error.code === 'ERR_CANCELLED' ? 'cancelled' : 'failed';
      store.update(job.id, ['queued', 'running'], {
        state,
        endedAt: nowMicros(),
        ...(state === 'failed' && { error: toErrorRecord(error) }),
      });
    } finally {
      const { state, error } = store.get(job.id);
      emit('JOB_END', { state, ...(error !== undefined && { error: error.code }) });
      this.#running.delete(job.id);
    }
  }

  #emit(event: ProverEvent): void {
    this.#options.store.appendEvent(event);
    this.#options.events.emit(event);
  }

  /** How long the last settled jobs ran, on average: when to come back to a full queue. */
  #secondsPerJob(): number {
    const times = this.list(20)
      .filter((job) => isSettled(job.state) && job.startedAt !== undefined)
      .map((job) => ((job.endedAt ?? 0) - (job.startedAt ?? 0)) / 1e6);
    const mean = times.reduce((sum, s) => sum + s, 0) / Math.max(1, times.length);
    return Math.min(600, Math.max(1, Math.ceil(mean)));
  }
}

/** W3C Trace Context 3.2; anything malformed is as if it were absent. */
function parseTraceparent(
  header: string | undefined,
): { readonly traceId: string; readonly spanId: string } | undefined {
  const match = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}$/.exec(header ?? '');
  const [, traceId, spanId] = match ?? [];
  if (traceId === undefined || spanId === undefined || header?.startsWith('ff')) return undefined;
  return /^0+$/.test(traceId) || /^0+$/.test(spanId) ? undefined : { traceId, spanId };
}
