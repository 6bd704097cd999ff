import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Micros } from '../core/units.ts';
import type { EventListener, ProverEvent } from './events.ts';
import { edgeOf, identityOf } from './stage-pairs.ts';

/** What the registry asks for when it is read. */
export interface MetricSources {
  /** Unsettled jobs that wait. */
  queueDepth(): number;
  /** Of the job that has waited longest, seconds; 0 where none waits. */
  queueAgeSeconds(): number;
  hosts(): readonly {
    readonly backend: string;
    readonly device?: string;
    readonly restarts: number;
  }[];
}

/** From a pairing to an hour: stages of small circuits and of a 32 GiB sector. */
const SECONDS_BUCKETS = [0.005, 0.02, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 300, 900, 3600];
/** Stages of one job that are open at a time; a partition has a handful. */
const OPEN_STAGES_MAX = 10_000;

/**
 * Prometheus metrics of the event stream, of the queue and of this process (event-loop delay,
 * memory).
 */
export class Metrics {
  readonly #registry = new Registry();
  readonly #stageSeconds: Histogram<'stage' | 'backend' | 'kind'>;
  readonly #jobs: Counter<'state' | 'kind'>;
  /** Of jobs that have not settled. */
  readonly #kinds = new Map<string, string>();
  readonly #open = new Map<string, Micros>();

  constructor(sources: MetricSources) {
    const registers = [this.#registry];
    collectDefaultMetrics({ register: this.#registry });
    this.#stageSeconds = new Histogram({
      name: 'proofline_stage_seconds',
      help: 'Time a stage took; stage JOB is the whole job',
      labelNames: ['stage', 'backend', 'kind'],
      buckets: SECONDS_BUCKETS,
      registers,
    });
    this.#jobs = new Counter({
      name: 'proofline_jobs_total',
      help: 'Jobs that settled, by how',
      labelNames: ['state', 'kind'],
      registers,
    });
    new Gauge({
      name: 'proofline_queue_depth',
      help: 'Jobs that wait',
      registers,
      collect() {
        this.set(sources.queueDepth());
      },
    });
    new Gauge({
      name: 'proofline_queue_age_seconds',
      help: 'How long the job at the head of the queue has waited',
      registers,
      collect() {
        this.set(sources.queueAgeSeconds());
      },
    });
    new Gauge({
      name: 'proofline_device_host_restarts',
      help: 'Restarts of a device host since the service started',
      labelNames: ['backend', 'device'],
      registers,
      collect() {
        for (const { backend, device, restarts } of sources.hosts()) {
          if (device !== undefined) this.set({ backend, device }, restarts);
        }
      },
    });
  }

  get contentType(): string {
    return this.#registry.contentType;
  }

  /** The text that Prometheus scrapes. */
  text(): Promise<string> {
    return this.#registry.metrics();
  }

  /** To be subscribed to the event stream. */
  readonly listener: EventListener = (event) => {
    const edge = edgeOf(event);
    if (edge === undefined) return;
    const key = identityOf(edge.stage, event);
    if (event.event === 'JOB_START') this.#kinds.set(event.jobId, String(event.attributes?.kind));
    const kind = this.#kinds.get(event.jobId) ?? 'unknown';
    if (event.event === 'JOB_END') this.#kinds.delete(event.jobId);
    if (edge.edge === 'start') {
      if (this.#open.size < OPEN_STAGES_MAX) this.#open.set(key, event.atMicros);
      return;
    }
    const started = this.#open.get(key);
    this.#open.delete(key);
    if (edge.stage === 'JOB') this.#jobs.inc({ state: String(event.attributes?.state), kind });
    if (started === undefined) return;
    const labels = { stage: edge.stage, backend: backendOf(event), kind };
    this.#stageSeconds.observe(labels, Math.max(0, event.atMicros - started) / 1e6);
  };
}

/** The backend of `cpu:0`; the service's own stages have none. */
function backendOf({ device }: ProverEvent): string {
  return device?.split(':')[0] ?? '';
}
