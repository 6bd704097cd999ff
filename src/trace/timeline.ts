import type { Micros } from '../core/units.ts';
import type { ProverEvent, Stage } from '../telemetry/events.ts';
import { type Lane, latestOf, type StageSpan, stagesOf } from './stages.ts';

/** A job's stages as JSON: what the `timeline` method answers and what the waterfall draws. */
export interface Timeline {
  readonly job_id: string;
  /** Of the first stage, ISO 8601 with milliseconds; null while there is none. */
  readonly started_at: string | null;
  /** From the first start to the last end or, while the job runs, to now. */
  readonly total_ms: number;
  readonly running: boolean;
  /** In drawing order: each stage is followed by those inside it. */
  readonly stages: readonly TimelineStage[];
}

export interface TimelineStage {
  readonly stage: Stage;
  readonly lane: Lane;
  readonly depth: number;
  /** Index of the stage around it. */
  readonly parent: number | null;
  readonly partition?: number;
  readonly worker?: number;
  readonly device?: string;
  /** Since `started_at`. */
  readonly start_ms: number;
  /** Since `started_at`; null while the stage runs. */
  readonly end_ms: number | null;
  /** Until now for a stage that runs. */
  readonly ms: number;
  /** Of the job's time, 0 to 1. */
  readonly share: number;
  /** Error code. */
  readonly error?: string;
  /** No end was reported: `end_ms` is that of the stage around it. */
  readonly unfinished?: true;
}

/**
 * @param events of one job, in order of arrival
 * @param nowMicros until when running stages are measured; default: the latest time in `events`
 */
export function timelineOf(
  jobId: string,
  events: readonly ProverEvent[],
  nowMicros: Micros = latestOf(events),
): Timeline {
  const spans = stagesOf(events, nowMicros);
  const zero = spans.reduce((min, { startMicros }) => Math.min(min, startMicros), Infinity);
  const last = spans.reduce((max, { endMicros }) => Math.max(max, endMicros ?? nowMicros), zero);
  return {
    job_id: jobId,
    started_at: spans.length === 0 ? null : new Date(zero / 1000).toISOString(),
    total_ms: spans.length === 0 ? 0 : millis(last - zero),
    running: spans.some(({ endMicros }) => endMicros === undefined),
    stages: spans.map((span) => toJson(span, zero, nowMicros)),
  };
}

function toJson(span: StageSpan, zero: number, nowMicros: Micros): TimelineStage {
  const { startMicros, endMicros, parent, jobId: _, ...rest } = span;
  return {
    ...rest,
    parent: parent ?? null,
    start_ms: millis(startMicros - zero),
    end_ms: endMicros === undefined ? null : millis(endMicros - zero),
    ms: millis(Math.max(0, (endMicros ?? nowMicros) - startMicros)),
    share: Math.round(span.share * 1e6) / 1e6,
  };
}

function millis(micros: number): number {
  return micros / 1000;
}
