import { randomUUID } from 'node:crypto';
import { fromErrorRecord, toProverError } from '../../core/errors.ts';
import { nowMicros } from '../../core/units.ts';
import { type FilecoinRequest, isSettled, type Job } from '../../jobs/job.ts';
import type { PayloadFolder } from '../../jobs/payloads.ts';
import type { JobService, KeyLoading } from '../../jobs/service.ts';
import type { KeyCatalog } from '../../keys/stored-key.ts';
import { timelineOf } from '../../trace/timeline.ts';
import type { JobCounters } from '../job-counters.ts';
import type { CuzkMetrics } from './metrics.ts';
import { CUZK_KINDS, circuitId, circuitOf, cuzkNameOf } from './names.ts';
import { RequestJobs, wireName } from './request-jobs.ts';
import { failedProof, isFinal } from './statuses.ts';
import {
  type AwaitProofResponse,
  type EngineMethods,
  type GetStatusResponse,
  GrpcError,
  type MethodName,
  PROOF_STATUS,
  STATUS,
  type StoredSubmit,
} from './wire.ts';

export interface EngineOptions {
  readonly jobs: JobService & KeyLoading;
  readonly payloads: Pick<PayloadFolder, 'adopt'>;
  readonly keys: Pick<KeyCatalog, 'list'>;
  readonly counters: JobCounters;
  readonly metrics: CuzkMetrics;
}

type Handler<M extends MethodName> = (
  request: EngineMethods[M]['request'],
  signal: AbortSignal,
) => Promise<EngineMethods[M]['response']>;

/** Residency of a key, as the wire numbers it. */
const TIER = { hot: 0, warm: 1 } as const;
/** Longer timers fire at once in Node. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** cuzk's `ProvingEngine`, on our jobs and keys. */
export class CuzkEngine {
  readonly #options: EngineOptions;
  readonly #requests: RequestJobs;
  readonly #startedAt = nowMicros();

  /** By method. A signal is aborted once nobody waits for the answer; jobs go on all the same. */
  readonly methods: { readonly [M in MethodName]: Handler<M> } = {
    SubmitProof: async (submit) => {
      const job = await this.#submit(submit);
      return { job_id: wireName(job), queue_position: this.#positionOf(job) };
    },
    Prove: async (submit, signal) => ({ result: await this.#prove(submit, signal) }),
    AwaitProof: async ({ job_id, timeout_ms }, signal) => {
      const job = this.#find(job_id);
      return await this.#await(job, job_id, Number(timeout_ms), signal);
    },
    CancelProof: async ({ job_id }) => {
      const { id, state } = this.#find(job_id);
      this.#options.jobs.cancel(id);
      return { was_running: state === 'running' };
    },
    GetStatus: async () => await this.#status(),
    GetMetrics: async () => ({ prometheus_text: this.#options.metrics.text() }),
    PreloadSRS: async ({ circuit_id }, signal) => {
      const { kind, sectorSize } = knownCircuit(circuit_id);
      const start = performance.now();
      const wasLoaded = await this.#options.jobs.preload(kind, sectorSize, signal);
      const ms = wasLoaded ? 0 : Math.round(performance.now() - start);
      return { already_loaded: wasLoaded, load_time_ms: ms };
    },
    EvictSRS: async ({ circuit_id }, signal) => {
      const { kind, sectorSize } = knownCircuit(circuit_id);
      const bytes = await this.#options.jobs.unload(kind, sectorSize, signal);
      return { was_loaded: bytes > 0, freed_bytes: bytes };
    },
  };

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#requests = new RequestJobs(options.jobs);
  }

  /** What cannot be proved is a proof that failed, not a call that did. */
  async #prove(submit: StoredSubmit, signal: AbortSignal): Promise<AwaitProofResponse> {
    let job: Job;
    try {
      job = await this.#submit(submit);
    } catch (thrown) {
      const error = toProverError(thrown);
      if (!isFinal(error)) throw error;
      return failedProof(submit.requestId, error.message);
    }
    return await this.#await(job, wireName(job), 0, signal);
  }

  async #submit({ requestId, kind, priority, statement, vanilla }: StoredSubmit): Promise<Job> {
    await this.#options.payloads.adopt([statement, ...vanilla]);
    const request: FilecoinRequest = {
      kind,
      statement: statement.sha256,
      vanilla: vanilla.map(({ sha256 }) => sha256),
      ...(priority !== undefined && { priority }),
    };
    return await this.#requests.submit(request, requestId || randomUUID());
  }

  #find(id: string): Job {
    const job = this.#requests.find(id);
    if (job !== undefined) return job;
    throw new GrpcError(STATUS.notFound, `job not found: ${id}`);
  }

  /** @param timeoutMs 0: as long as it takes */
  async #await(
    job: Job,
    name: string,
    timeoutMs: number,
    signal: AbortSignal,
  ): Promise<AwaitProofResponse> {
    const timeout = new AbortController();
    const ms = Math.min(timeoutMs, TIMER_MS_MAX);
    const timer = timeoutMs > 0 ? setTimeout(() => timeout.abort(), ms) : undefined;
    const either = AbortSignal.any([signal, timeout.signal]);
    const settled = await this.#options.jobs.settled(job.id, either);
    clearTimeout(timer);
    if (isSettled(settled.state)) return this.#resultOf(settled, name);
    if (timeout.signal.aborted) return { job_id: name, status: PROOF_STATUS.timeout };
    throw new GrpcError(
      STATUS.unavailable,
      'the service is shutting down; the proof goes on later',
    );
  }

  #resultOf(job: Job, name: string): AwaitProofResponse {
    const result = { job_id: name, ...this.#timesOf(job) };
    const { state, outcome, error } = job;
    if (state === 'cancelled') {
      return {
        ...result,
        status: PROOF_STATUS.cancelled,
        error_message: 'the proof was cancelled',
      };
    }
    if (outcome === undefined || !('kind' in outcome)) {
      const message = error === undefined ? 'no proof' : fromErrorRecord(error).message;
      return { ...result, ...failedProof(name, message) };
    }
    return { ...result, status: PROOF_STATUS.completed, proof: Buffer.from(outcome.proof, 'hex') };
  }

  /** Of all partitions together: their sums may exceed the whole. */
  #timesOf({ id, submittedAt, endedAt = submittedAt }: Job) {
    const { stages } = timelineOf(id, this.#options.jobs.events(id));
    const sum = (stage: string) =>
      Math.round(stages.reduce((ms, each) => ms + (each.stage === stage ? each.ms : 0), 0));
    return {
      queue_wait_ms: sum('QUEUE'),
      srs_load_ms: sum('SRS_LOAD'),
      synthesis_ms: sum('SYNTH'),
      gpu_compute_ms: sum('GPU'),
      total_ms: Math.round((endedAt - submittedAt) / 1000),
    };
  }

  #positionOf({ sequence }: Job): number {
    return this.#unsettled().filter((job) => job.state === 'queued' && job.sequence < sequence)
      .length;
  }

  #unsettled(): readonly Job[] {
    const of = (state: 'queued' | 'running') =>
      this.#options.jobs.list({ limit: UNSETTLED_MAX, state });
    return [...of('queued'), ...of('running')];
  }

  async #status(): Promise<GetStatusResponse> {
    const { counters } = this.#options;
    const unsettled = this.#unsettled();
    const { total_completed, total_failed } = counters.snapshot();
    return {
      gpus: this.#devices(unsettled),
      loaded_srs: await this.#residents(unsettled),
      queues: CUZK_KINDS.map(({ kind, name }) => {
        const inState = (wanted: string) =>
          unsettled.filter(({ state, request }) => state === wanted && request.kind === kind);
        return {
          proof_kind: name,
          pending: inState('queued').length,
          in_progress: inState('running').length,
        };
      }),
      total_proofs_completed: total_completed,
      total_proofs_failed: total_failed,
      uptime_seconds: Math.floor((nowMicros() - this.#startedAt) / 1e6),
      pinned_memory_bytes: 0,
      pinned_memory_limit_bytes: 0,
    };
  }

  #devices(unsettled: readonly Job[]): GetStatusResponse['gpus'] {
    const available = this.#options.jobs.hosts().filter((host) => host.available);
    const gpus = available.filter(({ backend }) => backend === 'cuda');
    // Without a GPU, what proves instead: the fastest backend comes first.
    const devices = gpus.length > 0 ? gpus : available.slice(0, 1);
    return devices.map(({ backend, deviceName, memoryBytes = 0, residents, jobId }, ordinal) => {
      const job = unsettled.find(({ id }) => id === jobId);
      const taken = residents.reduce((sum, { bytes }) => sum + bytes, 0);
      return {
        ordinal,
        name: deviceName ?? backend,
        vram_total_bytes: memoryBytes,
        vram_free_bytes: Math.max(0, memoryBytes - taken),
        current_job_id: job === undefined ? '' : wireName(job),
        current_proof_kind: job === undefined ? '' : cuzkNameOf(job.request.kind),
      };
    });
  }

  async #residents(unsettled: readonly Job[]): Promise<GetStatusResponse['loaded_srs']> {
    const keys = await this.#options.keys.list();
    const nameOf = (digest: string) => {
      const key = keys.find((each) => each.digest === digest);
      return circuitId(key?.circuit) ?? key?.name ?? digest;
    };
    return this.#options.jobs
      .hosts()
      .flatMap(({ residents }) => residents)
      .map(({ backend, digest, bytes }) => ({
        circuit_id: nameOf(digest),
        tier: backend === 'cuda' ? TIER.hot : TIER.warm,
        size_bytes: bytes,
        ref_count: unsettled.filter((job) => job.state === 'running' && job.keyDigest === digest)
          .length,
      }));
  }
}

/** The longest queue that a status counts. */
const UNSETTLED_MAX = 10_000;

function knownCircuit(id: string) {
  const circuit = circuitOf(id);
  if (circuit !== undefined) return circuit;
  throw new GrpcError(STATUS.internal, `unknown circuit ID: ${id}`);
}
