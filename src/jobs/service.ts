import { randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { formatError, ProverError, toErrorRecord, toProverError } from '../core/errors.ts';
import { type Micros, nowMicros } from '../core/units.ts';
import type {
  HostStatus,
  Pipeline,
  ProveOutcome,
  StatementFacts,
  StoredFile,
  TaskListener,
  TaskOptions,
  VerifyInput,
  VerifyOutcome,
} from '../pipeline/pipeline.ts';
import type { AttributeValue, EventName, EventStream, ProverEvent } from '../telemetry/events.ts';
import { alarm } from './alarm.ts';
import {
  type FilecoinRequest,
  fingerprint,
  isSettled,
  type Job,
  type JobRequest,
  payloadsOf,
  rankOf,
} from './job.ts';
import type { PayloadFolder } from './payloads.ts';
import type { JobChange, JobQuery, JobStore } from './store.ts';
import { parseTraceparent } from './traceparent.ts';

/** A job whose device host ends under it so often is given up. */
const CRASHES_MAX = 3;
/** Events kept of one job: a partition has about forty, a job at most 126 of them. */
const EVENTS_MAX = 8000;
/** Pause before a settled job is written again after the disk refused it. */
const REWRITE_MS = 2000;
const PRUNE_EVERY_MS = 600_000;

/** A stored key, as far as jobs care. */
export interface StoredKey {
  readonly path: string;
  readonly digest: string;
  /** Its points were checked when it was stored. */
  readonly checked: boolean;
}

/**
 * snarkjs JSON as parsed, unchecked: the device host checks it. Either a stored key or a
 * verification key.
 */
export type VerifyRequest = VerifyInputsRequest | VerifyStatementRequest;

export interface VerifyInputsRequest {
  readonly key?: string;
  readonly verificationKey?: unknown;
  readonly proof: unknown;
  readonly public: unknown;
}

/** All partitions of a proof of Filecoin. @property statement JSON as parsed, unchecked */
export interface VerifyStatementRequest {
  /** Absent: the stored key of the circuit. */
  readonly key?: string;
  readonly statement: object;
  /** 192 bytes a partition, hex. */
  readonly proof: string;
}

/** What the RPC room sees of jobs. */
export interface JobService {
  /**
   * Accepts a job, or finds the one of its idempotency key, and returns at once.
   * @throws ERR_FORMAT for a statement, ERR_PARAMS for a partition, ERR_KEY_UNKNOWN,
   *   ERR_PAYLOAD_UNKNOWN, ERR_BACKEND_UNAVAILABLE, ERR_DEADLINE, ERR_IDEMPOTENCY,
   *   ERR_QUEUE_FULL, ERR_STORAGE, ERR_SHUTTING_DOWN
   */
  submit(request: JobRequest, options?: { readonly traceparent?: string }): Promise<Job>;
  /** @throws ERR_JOB_UNKNOWN */
  get(id: string): Job;
  /** Newest first. */
  list(query: JobQuery): readonly Job[];
  /**
   * Resolves once the job is completed, failed or cancelled. Aborting stops the waiting, not the
   * job.
   */
  settled(id: string, signal?: AbortSignal): Promise<Job>;
  /**
   * Ends a queued or running job within a second; a settled one stays as it is.
   * @throws ERR_JOB_UNKNOWN
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

/** Keys of Filecoin's circuits, loaded before a proof needs them, and let go. */
export interface KeyLoading {
  /** @returns whether it was loaded before. @throws ERR_KEY_UNKNOWN, ERR_BACKEND_UNAVAILABLE */
  preload(kind: string, sectorSize: string, signal: AbortSignal): Promise<boolean>;
  /**
   * @returns bytes of the key, 0 where it was not loaded
   * @throws ERR_JOB_STATE where a job proves with it, ERR_KEY_UNKNOWN
   */
  unload(kind: string, sectorSize: string, signal: AbortSignal): Promise<number>;
}

export interface JobsOptions {
  readonly store: JobStore;
  readonly pipeline: Pipeline;
  readonly payloads: PayloadFolder;
  readonly events: EventStream;
  readonly queueLimit: number;
  readonly jobsKept: number;
  readonly jobsKeptMicros: number;
  /** @throws ERR_KEY_UNKNOWN */
  findKey(nameOrDigest: string): Promise<StoredKey>;
  /** The key of a circuit of Filecoin. @throws ERR_KEY_UNKNOWN */
  findKeyFor(kind: string, sectorSize: string): Promise<StoredKey>;
  /** Hears what could not be written; it is tried again. */
  warn(error: ProverError, jobId: string): void;
}

/** Why a job that has not settled is stopped. */
type Stop = 'cancelled' | 'deadline' | 'shutdown';

interface Live {
  readonly abort: AbortController;
  readonly events: ProverEvent[];
  readonly done: Promise<void>;
  progress: number;
}

export class Jobs implements JobService, KeyLoading {
  readonly #options: JobsOptions;
  readonly #live = new Map<string, Live>();
  readonly #pruning: NodeJS.Timeout;
  #closing = false;

  constructor(options: JobsOptions) {
    this.#options = options;
    this.#pruning = setInterval(() => void this.#tidy(), PRUNE_EVERY_MS);
    this.#pruning.unref();
  }

  /** Takes up what an earlier process has left unsettled. To be called once, before `submit`. */
  recover(): void {
    for (const job of this.#options.store.unsettled()) {
      this.#options.store.requeue(job.id);
      this.#begin(job);
    }
  }

  async submit(request: JobRequest, options: { traceparent?: string } = {}): Promise<Job> {
    const { store, pipeline, payloads, findKey, queueLimit } = this.#options;
    const named = request.key === undefined ? undefined : await findKey(request.key);
    const print = fingerprint(request, named?.digest ?? null);
    const known = this.#findTwin(request, print);
    if (known !== undefined) return known;
    checkDeadline(request.deadline);
    await pipeline.choose(request.backend);
    const { key, partitions } = await this.#resolve(request, named);
    for (const sha256 of payloadsOf(request)) await payloads.use(sha256);
    if (this.#closing) throw new ProverError('ERR_SHUTTING_DOWN', {});
    // Nothing is awaited from here on: two requests with one idempotency key cannot both pass.
    const twin = this.#findTwin(request, print);
    if (twin !== undefined) return twin;
    if (store.count('queued') >= queueLimit) {
      const retryAfterSeconds = this.#secondsPerJob();
      throw new ProverError('ERR_QUEUE_FULL', { limit: queueLimit, retryAfterSeconds });
    }
    const parent = parseTraceparent(options.traceparent);
    const job = store.insert(
      {
        id: randomUUID(),
        request,
        keyDigest: key.digest,
        ...(partitions > 1 && { partitions }),
        submittedAt: nowMicros(),
        traceId: parent?.traceId ?? randomBytes(16).toString('hex'),
        ...(parent && { parentSpanId: parent.spanId }),
        ...(parent?.sampled === false && { parentSampled: false }),
      },
      print,
    );
    this.#begin(job);
    return this.get(job.id);
  }

  get(id: string): Job {
    return this.#withProgress(this.#options.store.get(id));
  }

  list(query: JobQuery): readonly Job[] {
    return this.#options.store.list(query).map((job) => this.#withProgress(job));
  }

  async settled(id: string, signal?: AbortSignal): Promise<Job> {
    const live = this.#live.get(id);
    if (live === undefined || signal?.aborted === true) return this.get(id);
    const stopped = new Promise<void>((resolve) =>
      signal?.addEventListener('abort', () => resolve(), { once: true }),
    );
    await Promise.race([live.done, stopped]);
    return this.get(id);
  }

  cancel(id: string): Job {
    const { store } = this.#options;
    store.get(id);
    store.settle(id, undefined, { state: 'cancelled', endedAt: nowMicros() });
    this.#stop(id, 'cancelled');
    return this.get(id);
  }

  events(id: string): readonly ProverEvent[] {
    this.#options.store.get(id);
    return this.#live.get(id)?.events ?? this.#options.store.events(id);
  }

  async verify(request: VerifyRequest, signal?: AbortSignal): Promise<VerifyOutcome> {
    if ('statement' in request) return await this.#verifyStatement(request, signal);
    const { key, ...rest } = request;
    const params: VerifyInput =
      key === undefined ? rest : { ...rest, keyPath: (await this.#options.findKey(key)).path };
    return this.#options.pipeline.verify(params, signal);
  }

  async #verifyStatement(
    { key, ...rest }: VerifyStatementRequest,
    signal: AbortSignal | undefined,
  ): Promise<VerifyOutcome> {
    const { pipeline, findKey, findKeyFor } = this.#options;
    const { kind, sectorSize } = await pipeline.statement({ value: rest.statement });
    const found = await (key === undefined ? findKeyFor(kind, sectorSize) : findKey(key));
    return pipeline.verify({ ...rest, keyPath: found.path, keyChecked: found.checked }, signal);
  }

  queue() {
    const { store } = this.#options;
    const since = store.queuedSince();
    const ageSeconds = since === undefined ? 0 : Math.max(0, nowMicros() - since) / 1e6;
    return { depth: store.count('queued'), ageSeconds };
  }

  hosts(): readonly HostStatus[] {
    return this.#options.pipeline.hosts();
  }

  async preload(kind: string, sectorSize: string, signal: AbortSignal): Promise<boolean> {
    const key = await this.#options.findKeyFor(kind, sectorSize);
    return !(await this.#options.pipeline.preload(key, signal));
  }

  async unload(kind: string, sectorSize: string, signal: AbortSignal): Promise<number> {
    const { digest } = await this.#options.findKeyFor(kind, sectorSize);
    const user = this.#options.store
      .unsettled()
      .find(({ state, keyDigest }) => state === 'running' && keyDigest === digest);
    if (user !== undefined) {
      const expected = 'one that does not prove with the key';
      const { id: jobId, state: actual } = user;
      throw new ProverError('ERR_JOB_STATE', { jobId, expected, actual });
    }
    return await this.#options.pipeline.unload(digest, signal);
  }

  /**
   * Accepts and starts nothing more, and waits for what runs, `drainMs` at most. What has not
   * settled by then stays queued, for the next process.
   */
  async close(drainMs: number): Promise<void> {
    this.#closing = true;
    clearInterval(this.#pruning);
    this.#options.pipeline.drain();
    const running = [...this.#live].filter(([id]) => this.get(id).state === 'running');
    const timer = new AbortController();
    const late = sleep(drainMs, undefined, { signal: timer.signal }).catch(() => {});
    await Promise.race([Promise.all(running.map(([, { done }]) => done)), late]);
    timer.abort();
    for (const id of this.#live.keys()) this.#stop(id, 'shutdown');
    await Promise.all([...this.#live.values()].map(({ done }) => done));
  }

  #begin(job: Job): void {
    const abort = new AbortController();
    const events: ProverEvent[] = [];
    let resolve = () => {};
    const done = new Promise<void>((settled) => {
      resolve = settled;
    });
    this.#live.set(job.id, { abort, events, done, progress: 0 });
    const { deadline } = job.request;
    const callOff =
      deadline === undefined ? () => {} : alarm(deadline, () => this.#stop(job.id, 'deadline'));
    void this.#process(job, abort.signal).finally(() => {
      callOff();
      this.#live.delete(job.id);
      resolve();
    });
  }

  async #process(job: Job, signal: AbortSignal): Promise<void> {
    const { store } = this.#options;
    const { id, request, keyDigest, partitions, traceId, parentSpanId, parentSampled } = job;
    let queued = true;
    const leaveQueue = (error?: string) => {
      if (queued) this.#tell(id, 'QUEUE_END', error === undefined ? {} : { error });
      queued = false;
    };
    this.#tell(id, 'JOB_START', {
      kind: request.kind,
      ...(request.label !== undefined && { label: request.label }),
      keyDigest,
      ...(partitions !== undefined && { partitions }),
      traceId,
      ...(parentSpanId !== undefined && { parentSpanId }),
      ...(parentSampled === false && { parentSampled }),
    });
    this.#tell(id, 'QUEUE_START');
    let attempt = 0;
    const listener: TaskListener = {
      signal,
      started: () => {
        const started = store.start(id, nowMicros());
        if (started === undefined) throw new ProverError('ERR_CANCELLED', { jobId: id });
        leaveQueue();
        attempt = started.attempts;
      },
      crashed: () => this.#mayStartAgain(id),
      event: (event) => this.#emit(event),
      progress: (share) => {
        const live = this.#live.get(id);
        if (live !== undefined) live.progress = share;
      },
    };
    let change: JobChange;
    try {
      const outcome = await this.#prove(job, listener);
      change = { state: 'completed', outcome };
    } catch (thrown) {
      const error = this.#reasonOf(job, thrown, signal);
      leaveQueue(error?.code ?? 'ERR_SHUTTING_DOWN');
      if (error === undefined) return this.#leaveToTheNext(id);
      change = { state: 'failed', error: toErrorRecord(error) };
    }
    await this.#settle(id, attempt, { ...change, endedAt: nowMicros() });
  }

  /** A disk that refuses to note a start delays the job, and does not fail it. */
  async #prove({ id, request, keyDigest }: Job, listener: TaskListener): Promise<ProveOutcome> {
    const { store, findKey, warn } = this.#options;
    const { path, checked } = await findKey(keyDigest);
    const task: TaskOptions = {
      jobId: id,
      keyPath: path,
      keyDigest,
      keyChecked: checked,
      rank: rankOf(request),
      ...(request.strict === true && { strict: true }),
      ...(request.backend !== undefined && { backend: request.backend }),
    };
    for (;;) {
      try {
        return await this.#make(request, task, listener);
      } catch (thrown) {
        const error = toProverError(thrown);
        if (error.code !== 'ERR_STORAGE' || listener.signal.aborted) throw error;
        warn(error, id);
        await sleep(REWRITE_MS, undefined, { signal: listener.signal }).catch(() => {});
        await this.#persist(id, () => store.requeue(id));
      }
    }
  }

  async #make(
    request: JobRequest,
    task: TaskOptions,
    listener: TaskListener,
  ): Promise<ProveOutcome> {
    const { pipeline } = this.#options;
    if (request.kind === 'circom') {
      return await pipeline.prove({ ...task, witness: this.#stored(request.payload) }, listener);
    }
    const facts = await this.#factsOf(request);
    const statement = this.#stored(request.statement);
    const vanilla = request.vanilla.map((sha256) => this.#stored(sha256));
    const { partition } = request;
    return await pipeline.proveStatement(
      { ...task, statement, vanilla, facts, ...(partition !== undefined && { partition }) },
      listener,
    );
  }

  #stored(sha256: string): StoredFile {
    return { path: this.#options.payloads.path(sha256), sha256 };
  }

  /** With which key, and how many proofs. @param named the key that the request names */
  async #resolve(
    request: JobRequest,
    named: StoredKey | undefined,
  ): Promise<{ readonly key: StoredKey; readonly partitions: number }> {
    const { findKey, findKeyFor } = this.#options;
    if (request.kind === 'circom') {
      return { key: named ?? (await findKey(request.key)), partitions: 1 };
    }
    const { kind, sectorSize, partitions } = await this.#factsOf(request);
    const key = named ?? (await findKeyFor(kind, sectorSize));
    return { key, partitions: request.partition === undefined ? partitions : 1 };
  }

  /** @throws ERR_FORMAT, ERR_PAYLOAD_UNKNOWN */
  async #factsOf({ kind, statement, partition = 0 }: FilecoinRequest): Promise<StatementFacts> {
    const { payloads, pipeline } = this.#options;
    await payloads.use(statement);
    const facts = await pipeline.statement(this.#stored(statement));
    if (facts.kind !== kind) throw formatError('statement: kind', kind, facts.kind);
    if (partition < facts.partitions) return facts;
    const expected = `below ${facts.partitions}`;
    throw new ProverError('ERR_PARAMS', { subject: 'partition', expected, actual: partition });
  }

  /** What a thrown value means for the job; undefined: nothing, the service shuts down. */
  #reasonOf(job: Job, thrown: unknown, signal: AbortSignal): ProverError | undefined {
    const stop = signal.aborted ? (signal.reason as Stop) : undefined;
    if (stop === 'shutdown') return undefined;
    if (stop === 'deadline') return deadlineError(job.request.deadline as Micros);
    const error = toProverError(thrown);
    const { crashes } = this.#options.store.get(job.id);
    if (error.code !== 'ERR_HOST_CRASHED' || crashes < CRASHES_MAX) return error;
    return new ProverError('ERR_QUARANTINED', { jobId: job.id, crashes }, error);
  }

  /** A job that a cancel has settled before stays cancelled. */
  async #settle(id: string, attempt: number, change: JobChange): Promise<void> {
    const { store, warn } = this.#options;
    this.#tell(id, 'STORE_START');
    await this.#persist(id, () => store.settle(id, attempt, change));
    this.#tell(id, 'STORE_END');
    const { state, error } = store.get(id);
    this.#tell(id, 'JOB_END', { state, ...(error !== undefined && { error: error.code }) });
    try {
      store.keepEvents(id, this.#live.get(id)?.events ?? []);
      this.#prune();
    } catch (thrown) {
      warn(toProverError(thrown), id);
    }
  }

  /** A result is not lost because the disk is full now: it is written once it can be. */
  async #persist(id: string, write: () => void): Promise<void> {
    for (;;) {
      try {
        return write();
      } catch (thrown) {
        this.#options.warn(toProverError(thrown), id);
        if (this.#closing) return;
        await sleep(REWRITE_MS);
      }
    }
  }

  /** One that cannot be noted as queued is found as running, and queued then. */
  #leaveToTheNext(id: string): void {
    try {
      this.#options.store.requeue(id);
    } catch (thrown) {
      this.#options.warn(toProverError(thrown), id);
    }
    this.#tell(id, 'JOB_END', { state: 'queued', error: 'ERR_SHUTTING_DOWN' });
  }

  #mayStartAgain(id: string): boolean {
    return this.#options.store.addCrash(id) < CRASHES_MAX && !this.#closing;
  }

  /** @throws ERR_IDEMPOTENCY */
  #findTwin({ idempotencyKey }: JobRequest, print: string): Job | undefined {
    if (idempotencyKey === undefined) return undefined;
    const found = this.#options.store.findByIdempotencyKey(idempotencyKey);
    if (found === undefined) return undefined;
    if (found.fingerprint === print) return this.#withProgress(found.job);
    throw new ProverError('ERR_IDEMPOTENCY', { jobId: found.job.id });
  }

  #stop(id: string, reason: Stop): void {
    this.#live.get(id)?.abort.abort(reason);
  }

  #withProgress(job: Job): Job {
    const progress = this.#live.get(job.id)?.progress;
    return job.state === 'running' && progress !== undefined ? { ...job, progress } : job;
  }

  /** Witnesses are secret: they do not wait for the next upload to go. */
  async #tidy(): Promise<void> {
    try {
      this.#prune();
      await this.#options.payloads.sweep();
    } catch (thrown) {
      this.#options.warn(toProverError(thrown), '');
    }
  }

  #prune(): void {
    const { store, jobsKept, jobsKeptMicros } = this.#options;
    store.prune(jobsKept, (nowMicros() - jobsKeptMicros) as Micros);
  }

  #tell(jobId: string, event: EventName, attributes: Record<string, AttributeValue> = {}): void {
    this.#emit({ atMicros: nowMicros(), event, jobId, attributes });
  }

  #emit(event: ProverEvent): void {
    const events = this.#live.get(event.jobId)?.events;
    if (events !== undefined && events.length < EVENTS_MAX) events.push(event);
    this.#options.events.emit(event);
  }

  /** How long the last settled jobs ran, on average: when to come back to a full queue. */
  #secondsPerJob(): number {
    const times = this.list({ limit: 20 })
      .filter((job) => isSettled(job.state) && job.startedAt !== undefined)
      .map((job) => ((job.endedAt ?? 0) - (job.startedAt ?? 0)) / 1e6);
    const mean = times.reduce((sum, s) => sum + s, 0) / Math.max(1, times.length);
    return Math.min(600, Math.max(1, Math.ceil(mean)));
  }
}

/** @throws ERR_DEADLINE for one that has passed */
function checkDeadline(deadline: Micros | undefined): void {
  if (deadline !== undefined && deadline <= Date.now() * 1000) throw deadlineError(deadline);
}

function deadlineError(deadline: Micros): ProverError {
  return new ProverError('ERR_DEADLINE', { deadline: new Date(deadline / 1000).toISOString() });
}
