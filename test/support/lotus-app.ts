import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type ErrorRecord, ProverError } from '../../src/core/errors.ts';
import type { Micros } from '../../src/core/units.ts';
import { type FilecoinRequest, isSettled, type Job, type JobRequest } from '../../src/jobs/job.ts';
import type { PayloadInfo, PayloadStore } from '../../src/jobs/payloads.ts';
import type { JobService } from '../../src/jobs/service.ts';
import { WorkerCallStore } from '../../src/jobs/worker-calls.ts';
import type { KeyCatalog } from '../../src/keys/stored-key.ts';
import { createApp } from '../../src/rpc/app.ts';
import { errorDescriber } from '../../src/rpc/errors.ts';
import { admission } from '../../src/rpc/guard.ts';
import { Lotus, type LotusSettings } from '../../src/rpc/lotus/lotus.ts';
import { TokenStore } from '../../src/rpc/tokens.ts';
import { fakeServices } from './fake-service.ts';
import { sha256 } from './lotus.ts';
import { OPTIONS } from './rpc-app.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Payloads in memory. */
export class KeptPayloads implements PayloadStore {
  readonly bytes = new Map<string, Buffer>();
  /** Thrown by `put`. */
  refusal: unknown;

  async put(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<PayloadInfo> {
    if (this.refusal !== undefined) throw this.refusal;
    const bytes = await buffer(Readable.from(body));
    if (bytes.length > limitBytes) {
      throw new ProverError('ERR_TOO_LARGE', { subject: 'payload', limit: limitBytes });
    }
    this.bytes.set(sha256(bytes), bytes);
    return { sha256: sha256(bytes), bytes: bytes.length };
  }

  has(digest: string): boolean {
    return this.bytes.has(digest);
  }

  async *read(digest: string): AsyncGenerator<Uint8Array> {
    yield this.bytes.get(digest) as Buffer;
  }
}

/** Jobs of Filecoin's proofs that a test settles by hand. */
export class HandJobs implements Partial<JobService> {
  readonly #jobs = new Map<string, Job>();
  readonly #wakes = new Set<() => void>();
  readonly cancelled: string[] = [];
  /** Thrown by the next `submit`s, first first. */
  readonly refusals: unknown[] = [];
  hosts: JobService['hosts'] = () => [
    ...[
      {
        backend: 'cpu' as const,
        available: true,
        state: 'idle' as const,
        restarts: 0,
        residents: [],
      },
    ],
  ];

  get all(): readonly (Job & { readonly request: FilecoinRequest })[] {
    return [...this.#jobs.values()] as (Job & { readonly request: FilecoinRequest })[];
  }

  async submit(request: JobRequest): Promise<Job> {
    const refusal = this.refusals.shift();
    if (refusal !== undefined) throw refusal;
    const { idempotencyKey } = request;
    const twin = this.all.find((job) => job.request.idempotencyKey === idempotencyKey);
    if (idempotencyKey !== undefined && twin !== undefined) return twin;
    const sequence = this.#jobs.size + 1;
    const job: Job = {
      ...{ id: `job-${sequence}`, sequence, request, state: 'queued', keyDigest: 'ab'.repeat(32) },
      ...{ submittedAt: 0 as Micros, progress: 0, attempts: 0, crashes: 0, traceId: '' },
    };
    this.#jobs.set(job.id, job);
    return job;
  }

  complete(id: string, proof: Uint8Array): void {
    const hex = Buffer.from(proof).toString('hex');
    this.#change(id, { state: 'completed', outcome: { kind: 'porep', proof: hex } as never });
  }

  fail(id: string, error: ErrorRecord): void {
    this.#change(id, { state: 'failed', error });
  }

  cancel(id: string): Job {
    this.cancelled.push(id);
    this.#change(id, { state: 'cancelled' });
    return this.get(id);
  }

  get(id: string): Job {
    return this.#jobs.get(id) as Job;
  }

  async settled(id: string, signal?: AbortSignal): Promise<Job> {
    while (!isSettled(this.get(id).state) && signal?.aborted !== true) {
      await new Promise<void>((resolve) => {
        this.#wakes.add(resolve);
        signal?.addEventListener('abort', () => resolve(), { once: true });
      });
    }
    return this.get(id);
  }

  #change(id: string, change: Partial<Job>): void {
    this.#jobs.set(id, { ...this.get(id), ...change });
    for (const wake of this.#wakes) wake();
  }
}

export interface LotusApp {
  readonly lotus: Lotus;
  readonly jobs: HandJobs;
  readonly payloads: KeptPayloads;
  readonly calls: WorkerCallStore;
  readonly tokens: TokenStore;
  readonly tokensPath: string;
  /** What was reported as unexpected. */
  readonly reported: unknown[];
  /** Lines of the log. */
  readonly logged: object[];
  readonly fetch: ReturnType<typeof createApp>['fetch'];
  request(path: string, init?: RequestInit): Promise<Response>;
}

/** Keys of every circuit but one. */
const KEYS = {
  list: async () =>
    ['porep 2KiB', 'window-post, by its size', 'snap-deals 2KiB'].map((circuit) => ({ circuit })),
} as unknown as KeyCatalog;

export const ALL_ROLES = ['seal', 'window-post', 'winning-post'] as const;

/** The service with its Lotus face over jobs of a test, without a socket. */
export function lotusApp(
  settings: Partial<LotusSettings> = {},
  folder: string = temporaryFolder(),
): LotusApp {
  const [jobs, payloads] = [new HandJobs(), new KeptPayloads()];
  const calls = new WorkerCallStore(join(folder, 'jobs.db'));
  const tokensPath = join(folder, 'tokens.json');
  const tokens = new TokenStore(tokensPath);
  const [reported, logged]: [unknown[], object[]] = [[], []];
  const note = (fields: object, message: string) => void logged.push({ ...fields, message });
  const lotus = new Lotus(
    { roles: ALL_ROLES, parallel: 3, ...settings },
    {
      ...{ jobs: jobs as unknown as JobService, payloads, calls, keys: KEYS, tokens },
      admits: admission([], []),
      log: { info: note, warn: note },
      describeError: errorDescriber((error) => void reported.push(error)),
    },
  );
  const app = createApp(fakeServices(), { ...OPTIONS, tokens, lotus });
  return {
    ...{ lotus, jobs, payloads, calls, tokens, tokensPath, reported, logged },
    fetch: app.fetch,
    request: async (path, init) => app.request(path, init),
  };
}
