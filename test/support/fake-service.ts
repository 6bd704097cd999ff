import { createHash } from 'node:crypto';
import { type ErrorRecord, ProverError } from '../../src/core/errors.ts';
import type { Micros } from '../../src/core/units.ts';
import { isSettled, type Job, type JobRequest, payloadsOf } from '../../src/jobs/job.ts';
import type { PayloadInfo, PayloadStore } from '../../src/jobs/payloads.ts';
import type { JobService, VerifyRequest } from '../../src/jobs/service.ts';
import type { JobQuery } from '../../src/jobs/store.ts';
import type { KeyCatalog, KeyInfo } from '../../src/keys/stored-key.ts';
import type {
  CircomOutcome,
  HostStatus,
  ProveOutcome,
  VerifyOutcome,
} from '../../src/pipeline/pipeline.ts';
import type { Services } from '../../src/rpc/context.ts';
import { type EventName, EventStream, type ProverEvent } from '../../src/telemetry/events.ts';

export const KEY: KeyInfo = {
  version: 1,
  name: 'multiplier',
  names: ['multiplier'],
  pointCount: 20,
  points: 'checked',
  importedAt: '2026-01-01T00:00:00.000Z',
  modifiedMs: 0,
  source: { path: '/data/multiplier.zkey', modifiedMs: 0, inode: 1 },
  linked: false,
  pieces: [],
  path: '/data/keys/multiplier.zkey',
  digest: 'ab'.repeat(32),
  format: 'zkey',
  curve: 'bn254',
  bytes: 4096,
  publicCount: 1,
  logN: 4,
  insecure: 'made by setup',
};

export const OUTCOME: CircomOutcome = {
  proof: {
    pi_a: ['1', '2', '1'],
    pi_b: [
      ['1', '2'],
      ['3', '4'],
      ['1', '0'],
    ],
    pi_c: ['5', '6', '1'],
    protocol: 'groth16',
    curve: 'bn128',
  },
  public: ['33'],
  keyDigest: KEY.digest,
  backend: 'cpu-reference',
  device: '0',
  attempts: 1,
  verified: true,
};

/** Job events with the given microseconds after the job's start. */
export type Script = readonly (readonly [atMicros: number, event: EventName, partition?: number])[];

export const PROVING: Script = [
  [1000, 'QUEUE_END'],
  [1000, 'SYNTH_START'],
  [3000, 'SYNTH_END'],
  [3000, 'GPU_QUEUE'],
  [3000, 'GPU_PICKUP'],
  [3000, 'GPU_START'],
];
export const PROVEN: Script = [
  ...PROVING,
  [9000, 'GPU_END'],
  [9000, 'VERIFY_START'],
  [10_000, 'VERIFY_END'],
];

export const CPU: HostStatus = {
  backend: 'cpu-reference',
  available: true,
  version: '1',
  device: '0',
  deviceName: 'CPU',
  memoryBytes: 1024,
  state: 'idle',
  restarts: 0,
  residents: [],
};

/** Jobs that a test moves by hand: `start`, `complete`, `fail`. */
export class FakeJobs implements JobService {
  readonly stream = new EventStream();
  readonly submitted: { request: JobRequest; traceparent?: string }[] = [];
  readonly verified: VerifyRequest[] = [];
  readonly #jobs = new Map<string, Job>();
  readonly #events = new Map<string, ProverEvent[]>();
  readonly #wakes = new Set<() => void>();
  /** Calls of `settled` that have not returned. */
  waiting = 0;
  /** Thrown by the next `submit`. */
  refusal: unknown;
  verdict: VerifyOutcome = { valid: true };
  hostList: readonly HostStatus[] = [
    {
      backend: 'cuda',
      available: false,
      reason: 'no driver',
      state: 'unavailable',
      restarts: 0,
      residents: [],
    },
    CPU,
  ];
  /** Of the jobs that are started from now on. */
  partitions = 1;
  /** Completes each job as soon as it is submitted. */
  instant = false;

  readonly #payloads: FakePayloads;

  constructor(payloads: FakePayloads) {
    this.#payloads = payloads;
  }

  async submit(request: JobRequest, options: { traceparent?: string } = {}): Promise<Job> {
    this.submitted.push({ request, ...options });
    const { refusal } = this;
    this.refusal = undefined;
    if (refusal !== undefined) throw refusal;
    if (request.key !== undefined && request.key !== KEY.name && request.key !== KEY.digest) {
      throw new ProverError('ERR_KEY_UNKNOWN', { key: request.key });
    }
    const missing = payloadsOf(request).find((sha256) => !this.#payloads.has(sha256));
    if (missing !== undefined) throw new ProverError('ERR_PAYLOAD_UNKNOWN', { sha256: missing });
    const id = `job-${this.#jobs.size + 1}`;
    const job: Job = {
      id,
      request,
      sequence: this.#jobs.size + 1,
      keyDigest: KEY.digest,
      attempts: 0,
      crashes: 0,
      state: 'queued',
      submittedAt: 1_700_000_000_000_000 as Micros,
      progress: 0,
      traceId: '0af7651916cd43dd8448eb211c80319c',
    };
    this.#jobs.set(id, job);
    this.play(id, [
      [0, 'JOB_START'],
      [0, 'QUEUE_START'],
    ]);
    if (this.instant) this.complete(id);
    return this.get(id);
  }

  /** Appends events to the job's. */
  play(id: string, script: Script): void {
    const { submittedAt, request, state } = this.get(id);
    for (const [offset, event, partition] of script) {
      const entry: ProverEvent = {
        atMicros: (submittedAt + offset) as Micros,
        event,
        jobId: id,
        ...(partition !== undefined && { partition }),
        ...(event === 'JOB_START' && { attributes: { kind: request.kind } }),
        ...(event === 'JOB_END' && { attributes: { state } }),
      };
      this.#events.set(id, [...(this.#events.get(id) ?? []), entry]);
      this.stream.emit(entry);
    }
  }

  start(id: string, script: Script = PROVING): void {
    const { partitions } = this;
    this.#change(id, {
      ...{ state: 'running', startedAt: this.#at(id, 1000) },
      ...(partitions > 1 && { partitions }),
    });
    this.play(id, script);
  }

  complete(id: string, outcome: ProveOutcome = OUTCOME): void {
    if (this.get(id).state === 'queued') this.start(id);
    this.play(id, PROVEN.slice(PROVING.length));
    this.#change(id, { state: 'completed', progress: 1, outcome, endedAt: this.#at(id, 10_000) });
    this.play(id, [[10_000, 'JOB_END']]);
  }

  fail(id: string, error: ErrorRecord): void {
    this.#change(id, { state: 'failed', error, endedAt: this.#at(id, 2000) });
    this.play(id, [[2000, 'JOB_END']]);
  }

  get(id: string): Job {
    const job = this.#jobs.get(id);
    if (job === undefined) throw new ProverError('ERR_JOB_UNKNOWN', { jobId: id });
    return job;
  }

  list({ limit, state, before = Number.POSITIVE_INFINITY }: JobQuery): readonly Job[] {
    return [...this.#jobs.values()]
      .reverse()
      .filter((job) => job.sequence < before && (state ?? job.state) === job.state)
      .slice(0, limit);
  }

  async settled(id: string, signal?: AbortSignal): Promise<Job> {
    this.waiting++;
    while (!isSettled(this.get(id).state) && signal?.aborted !== true) {
      await new Promise<void>((resolve) => {
        this.#wakes.add(resolve);
        signal?.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    this.waiting--;
    return this.get(id);
  }

  cancel(id: string): Job {
    if (!isSettled(this.get(id).state)) {
      this.#change(id, { state: 'cancelled', endedAt: this.#at(id, 2000) });
      this.play(id, [[2000, 'JOB_END']]);
    }
    return this.get(id);
  }

  events(id: string): readonly ProverEvent[] {
    this.get(id);
    return this.#events.get(id) ?? [];
  }

  async verify(request: VerifyRequest): Promise<VerifyOutcome> {
    this.verified.push(request);
    return this.verdict;
  }

  queue() {
    const depth = [...this.#jobs.values()].filter(({ state }) => state === 'queued').length;
    return { depth, ageSeconds: 1.5 };
  }

  hosts(): readonly HostStatus[] {
    return this.hostList;
  }

  #at(id: string, offset: number): Micros {
    return (this.get(id).submittedAt + offset) as Micros;
  }

  #change(id: string, change: Partial<Job>): void {
    this.#jobs.set(id, { ...this.get(id), ...change });
    for (const wake of this.#wakes) wake();
    this.#wakes.clear();
  }
}

export class FakePayloads implements PayloadStore {
  readonly #known = new Map<string, Uint8Array>();
  /** Bodies that ended in an error, in order. */
  readonly failures: unknown[] = [];
  /** Awaited for each chunk, before the next one is taken. */
  onChunk: (chunk: Uint8Array) => unknown = () => {};

  async put(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<PayloadInfo> {
    const hash = createHash('sha256');
    const chunks: Uint8Array[] = [];
    let bytes = 0;
    try {
      for await (const chunk of body) {
        bytes += chunk.length;
        if (bytes > limitBytes) {
          throw new ProverError('ERR_TOO_LARGE', { subject: 'payload', limit: limitBytes });
        }
        hash.update(chunk);
        chunks.push(chunk);
        await this.onChunk(chunk);
      }
    } catch (thrown) {
      this.failures.push(thrown);
      throw thrown;
    }
    const sha256 = hash.digest('hex');
    this.#known.set(sha256, Buffer.concat(chunks));
    return { sha256, bytes };
  }

  has(sha256: string): boolean {
    return this.#known.has(sha256);
  }

  async *read(sha256: string): AsyncGenerator<Uint8Array> {
    const bytes = this.#known.get(sha256);
    if (bytes === undefined) throw new ProverError('ERR_PAYLOAD_UNKNOWN', { sha256 });
    yield bytes;
  }
}

export class FakeKeys implements KeyCatalog {
  async list(): Promise<readonly KeyInfo[]> {
    return [KEY];
  }

  async resolve(nameOrDigest: string): Promise<KeyInfo> {
    if (nameOrDigest === KEY.name || nameOrDigest === KEY.digest) return KEY;
    throw new ProverError('ERR_KEY_UNKNOWN', { key: nameOrDigest });
  }
}

export interface FakeServices extends Services {
  readonly jobs: FakeJobs;
  readonly payloads: FakePayloads;
}

export function fakeServices(): FakeServices {
  const payloads = new FakePayloads();
  const jobs = new FakeJobs(payloads);
  return { jobs, payloads, keys: new FakeKeys(), events: jobs.stream };
}
