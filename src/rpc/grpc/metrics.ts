import type { EventStream } from '../../telemetry/events.ts';
import type { JobCounters } from '../job-counters.ts';
import { CUZK_KINDS } from './names.ts';

/** Proofs of a kind whose times are summed up, as in cuzk. */
const TIMES_MAX = 1000;

export interface MetricSources {
  uptimeSeconds(): number;
  queueDepth(): number;
  runningJobs(): number;
  /** Devices that prove. */
  workers(): number;
}

type Type = 'counter' | 'gauge' | 'summary';

/** Prometheus's text under the names of cuzk. */
export class CuzkMetrics {
  readonly #counters: JobCounters;
  readonly #sources: MetricSources;
  readonly #starts = new Map<string, { readonly kind: string; readonly atMicros: number }>();
  /** Seconds of the latest proofs, by kind. */
  readonly #times = new Map<string, number[]>();

  constructor(events: EventStream, counters: JobCounters, sources: MetricSources) {
    this.#counters = counters;
    this.#sources = sources;
    events.subscribe(({ event, jobId, atMicros, attributes }) => {
      const kind = String(attributes?.kind);
      if (event === 'JOB_START') this.#starts.set(jobId, { kind, atMicros });
      if (event === 'JOB_END') this.#settle(jobId, atMicros, attributes?.state === 'completed');
    });
  }

  text(): string {
    const counts = this.#counters.snapshot();
    const { uptimeSeconds, queueDepth, runningJobs, workers } = this.#sources;
    return [
      metric('cuzk_proofs_completed_total', 'counter', 'Proofs that were made', [
        ['', counts.total_completed],
      ]),
      metric('cuzk_proofs_failed_total', 'counter', 'Proofs that failed', [
        ['', counts.total_failed],
      ]),
      metric('cuzk_uptime_seconds', 'gauge', 'Since the start of the service', [
        ['', Math.floor(uptimeSeconds())],
      ]),
      metric('cuzk_queue_depth', 'gauge', 'Proofs that wait', [['', queueDepth()]]),
      metric(
        'cuzk_proofs_completed',
        'counter',
        'Proofs that were made, by kind',
        byKind(counts.completed_by_kind),
      ),
      metric(
        'cuzk_proofs_failed',
        'counter',
        'Proofs that failed, by kind',
        byKind(counts.failed_by_kind),
      ),
      metric(
        'cuzk_proof_duration_seconds',
        'summary',
        `From submission to result, of the last ${TIMES_MAX} proofs of a kind`,
        this.#durations(),
      ),
      metric('cuzk_running_jobs', 'gauge', 'Proofs that are being made', [['', runningJobs()]]),
      metric('cuzk_gpu_workers', 'gauge', 'Devices that prove', [['', workers()]]),
    ].join('');
  }

  #durations(): Sample[] {
    return CUZK_KINDS.flatMap(({ kind, metric }): Sample[] => {
      const times = this.#times.get(kind);
      if (times === undefined) return [];
      const sum = times.reduce((total, seconds) => total + seconds, 0);
      const label = `{proof_kind="${metric}"}`;
      return [
        [`_count${label}`, times.length],
        [`_sum${label}`, sum.toFixed(3)],
      ];
    });
  }

  #settle(jobId: string, atMicros: number, completed: boolean): void {
    const start = this.#starts.get(jobId);
    this.#starts.delete(jobId);
    if (start === undefined || !completed) return;
    const times = this.#times.get(start.kind) ?? [];
    this.#times.set(start.kind, times);
    times.push((atMicros - start.atMicros) / 1e6);
    if (times.length > TIMES_MAX) times.shift();
  }
}

/** What follows the name, and the value. */
type Sample = readonly [string, number | string];

function byKind(counts: Readonly<Record<string, number>>): Sample[] {
  return CUZK_KINDS.map(({ kind, metric }) => [`{proof_kind="${metric}"}`, counts[kind] ?? 0]);
}

function metric(name: string, type: Type, help: string, samples: readonly Sample[]): string {
  const lines = samples.map(([rest, value]) => `${name}${rest} ${value}\n`);
  return `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`;
}
