import { totalmem } from 'node:os';
import { z } from '@hono/zod-openapi';
import { nowMicros } from '../core/units.ts';
import { JOB_KINDS, type Job } from '../jobs/job.ts';
import { type TimelineStage, timelineOf } from '../trace/timeline.ts';
import type { Services } from './context.ts';
import { JobCounters } from './job-counters.ts';
import { Backend, JobId } from './schemas.ts';

/** Running jobs that /status shows: one a backend, and those that wait for their next partition. */
const JOBS_SEEN = 100;

const Count = z.int().nonnegative();
const Seconds = z.number().nonnegative();

const Pipeline = z.object({
  job_id: JobId,
  proof_kind: z.enum(JOB_KINDS),
  started_secs_ago: Seconds,
  total_partitions: Count,
  partitions_done: Count,
  partitions: z.array(
    z.object({
      index: Count,
      state: z.enum(['pending', 'synthesizing', 'synth_done', 'gpu', 'done', 'failed']),
      synth_ms: z.number().nullable(),
      gpu_ms: z.number().nullable(),
    }),
  ),
});

const GpuWorker = z.object({
  worker_id: Count,
  gpu_ordinal: Count,
  state: z.enum(['idle', 'proving']),
  current_job: JobId.nullable(),
  current_partition: Count.nullable(),
  busy_secs: Seconds.nullable(),
  backend: Backend,
});

const Resident = z.object({
  circuit_id: z.string(),
  bytes: Count,
  last_used_secs_ago: Seconds,
  evictable: z.boolean(),
});

const BackendStatus = z.object({
  backend: Backend,
  available: z.boolean(),
  reason: z.string().optional().describe('Why it is not available'),
  version: z.string().optional(),
  device: z.string().optional().describe('Its number within the backend'),
  device_name: z.string().optional(),
  memory_bytes: Count.optional(),
  state: z.enum(['idle', 'proving', 'unavailable']),
  job_id: JobId.optional(),
  restarts: Count,
});

/**
 * Fields that monitors of cuzk read keep their names and types; `version`, `ready` and `backends`
 * are ours.
 */
export const ServiceStatus = z
  .object({
    version: z.string(),
    uptime_secs: Seconds,
    ready: z.boolean(),
    reason: z.string().optional().describe('Why it is not ready'),
    memory: z
      .object({ total_bytes: Count, used_bytes: Count, available_bytes: Count })
      .describe('Of the machine, or of the limit that the service runs under'),
    synthesis: z.object({ max_concurrent: Count, active: Count }),
    pipelines: z.array(Pipeline).describe('Jobs that run'),
    gpu_workers: z.array(GpuWorker).describe('Devices that prove, whatever their kind'),
    allocations: z
      .object({ srs: z.array(Resident), pce: z.array(Resident) })
      .describe('Keys that device hosts have loaded, by SHA-256'),
    counters: z
      .object({
        total_completed: Count,
        total_failed: Count,
        completed_by_kind: z.record(z.string(), Count),
        failed_by_kind: z.record(z.string(), Count),
        queue_depth: Count,
      })
      .describe('Since the start of the service'),
    buffers: z.object({
      synth_in_flight: Count,
      provers_in_flight: Count,
      aux_in_flight: Count,
      shells_in_flight: Count,
      pending_handles: Count,
    }),
    backends: z.array(BackendStatus),
  })
  .openapi('ServiceStatus');

export type ServiceStatus = z.output<typeof ServiceStatus>;
type HostStatus = ReturnType<Services['jobs']['hosts']>[number];
type PipelineStatus = z.output<typeof Pipeline>;
type PartitionStatus = PipelineStatus['partitions'][number];

export interface ReporterOptions {
  readonly version: string;
  /** Aborted once the service shuts down. */
  readonly shutdown: AbortSignal;
}

/** Answers how the service does. Counts from its construction on. */
export class StatusReporter {
  readonly #services: Services;
  readonly #options: ReporterOptions;
  readonly #counters: JobCounters;
  readonly #startedAt = nowMicros();

  constructor(services: Services, options: ReporterOptions) {
    this.#services = services;
    this.#options = options;
    this.#counters = new JobCounters(services.events);
  }

  /** Why no job can be accepted now; undefined when one can. */
  unreadyReason(): string | undefined {
    if (this.#options.shutdown.aborted) return 'shutting down';
    const hosts = this.#services.jobs.hosts();
    if (hosts.some(({ available }) => available)) return undefined;
    const reasons = hosts.map(({ backend, reason }) => `${backend}: ${reason ?? 'unavailable'}`);
    return reasons.length === 0 ? 'backends are being probed' : `no backend: ${reasons.join('; ')}`;
  }

  report(): ServiceStatus {
    const { jobs } = this.#services;
    const hosts = jobs.hosts();
    const pipelines = jobs
      .list({ limit: JOBS_SEEN, state: 'running' })
      .map((job) => pipelineOf(job, this.#services));
    const inState = (...states: string[]) =>
      pipelines.flatMap((p) => p.partitions).filter(({ state }) => states.includes(state)).length;
    const reason = this.unreadyReason();
    return {
      version: this.#options.version,
      uptime_secs: secondsSince(this.#startedAt),
      ready: reason === undefined,
      ...(reason !== undefined && { reason }),
      memory: memoryOfMachine(),
      synthesis: {
        max_concurrent: hosts.filter(({ available }) => available).length,
        active: inState('synthesizing'),
      },
      pipelines,
      gpu_workers: workersOf(this.#services),
      allocations: { srs: hosts.flatMap(residentsOf), pce: [] },
      counters: {
        ...this.#counters.snapshot(),
        queue_depth: jobs.queue().depth,
      },
      buffers: {
        synth_in_flight: inState('synthesizing'),
        provers_in_flight: inState('gpu'),
        aux_in_flight: inState('synth_done', 'gpu'),
        shells_in_flight: 0,
        pending_handles: inState('done'),
      },
      backends: hosts.map((host) => ({
        backend: host.backend,
        available: host.available,
        ...(host.reason !== undefined && { reason: host.reason }),
        ...(host.version !== undefined && { version: host.version }),
        ...(host.device !== undefined && { device: host.device }),
        ...(host.deviceName !== undefined && { device_name: host.deviceName }),
        ...(host.memoryBytes !== undefined && { memory_bytes: host.memoryBytes }),
        state: host.state,
        ...(host.jobId !== undefined && { job_id: host.jobId }),
        restarts: host.restarts,
      })),
    };
  }
}

function pipelineOf(job: Job, { jobs }: Services): PipelineStatus {
  const { stages } = timelineOf(job.id, jobs.events(job.id), nowMicros());
  const partitions = partitionsOf(job).map((index) => partitionOf(index, stages));
  return {
    job_id: job.id,
    proof_kind: job.request.kind,
    started_secs_ago: secondsSince(job.startedAt ?? job.submittedAt),
    total_partitions: partitions.length,
    partitions_done: partitions.filter(({ state }) => state === 'done').length,
    partitions,
  };
}

/** Numbers of the partitions that a job proves. */
function partitionsOf({ request, partitions = 1 }: Job): number[] {
  const only = request.kind === 'circom' ? undefined : request.partition;
  return only !== undefined ? [only] : Array.from({ length: partitions }, (_, i) => i);
}

function partitionOf(index: number, stages: readonly TimelineStage[]): PartitionStatus {
  const last = (stage: string) =>
    stages.findLast((span) => span.stage === stage && (span.partition ?? 0) === index);
  const synth = last('SYNTH');
  const gpu = last('GPU');
  const state =
    gpu !== undefined
      ? gpu.end_ms === null
        ? 'gpu'
        : 'done'
      : synth === undefined
        ? 'pending'
        : synth.end_ms === null
          ? 'synthesizing'
          : 'synth_done';
  return { index, state, synth_ms: wholeMs(synth?.ms), gpu_ms: wholeMs(gpu?.ms) };
}

function workersOf({ jobs }: Services): ServiceStatus['gpu_workers'] {
  return jobs
    .hosts()
    .filter(({ available }) => available)
    .map((host, index) => ({
      worker_id: index,
      gpu_ordinal: Number(host.device),
      state: host.state === 'proving' ? 'proving' : 'idle',
      current_job: host.jobId ?? null,
      current_partition: host.jobId === undefined ? null : (host.partition ?? 0),
      busy_secs: host.busySinceMicros === undefined ? null : secondsSince(host.busySinceMicros),
      backend: host.backend,
    }));
}

function residentsOf({ state, residents }: HostStatus): ServiceStatus['allocations']['srs'] {
  return residents.map(({ digest, bytes, lastUsedMicros }) => ({
    circuit_id: digest,
    bytes,
    last_used_secs_ago: secondsSince(lastUsedMicros),
    evictable: state !== 'proving',
  }));
}

function memoryOfMachine(): ServiceStatus['memory'] {
  const limit = process.constrainedMemory();
  const total = limit > 0 ? Math.min(totalmem(), limit) : totalmem();
  const available = Math.min(total, process.availableMemory());
  return { total_bytes: total, used_bytes: total - available, available_bytes: available };
}

function secondsSince(micros: number): number {
  return Math.max(0, Math.round((nowMicros() - micros) / 1e4) / 100);
}

function wholeMs(ms: number | undefined): number | null {
  return ms === undefined ? null : Math.round(ms);
}
