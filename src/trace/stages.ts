import type { Micros } from '../core/units.ts';
import type { ProverEvent, Stage } from '../telemetry/events.ts';
import { pairStages, type StagePair } from '../telemetry/stage-pairs.ts';

/**
 * Who works: the service itself, the host processor, or the device that the backend computes on.
 */
export type Lane = 'service' | 'host' | 'device';

const LANES: Readonly<Record<Stage, Lane>> = {
  JOB: 'service',
  QUEUE: 'service',
  HOST_BOOT: 'host',
  SRS_LOAD: 'host',
  VANILLA: 'host',
  LAYOUT: 'host',
  SYNTH: 'host',
  STAGE: 'host',
  EVALUATE: 'host',
  H2D: 'device',
  GPU: 'device',
  NTT: 'device',
  MSM_H: 'device',
  MSM_L: 'device',
  MSM_A: 'device',
  MSM_B_G1: 'device',
  MSM_B_G2: 'device',
  FINISH: 'host',
  VERIFY: 'service',
  STORE: 'service',
  RECHECK: 'service',
};

export interface StageSpan {
  readonly stage: Stage;
  readonly lane: Lane;
  readonly jobId: string;
  readonly partition?: number;
  readonly worker?: number;
  readonly device?: string;
  readonly startMicros: Micros;
  /** Undefined while the stage runs. */
  readonly endMicros: Micros | undefined;
  /** No end was reported; `endMicros` is that of the stage around it. */
  readonly unfinished?: true;
  /** 0 for a stage with none around it. */
  readonly depth: number;
  /** Index of the stage around this one, always smaller than this one's own. */
  readonly parent?: number;
  /**
   * Duration over that of the job, both until now for what still runs. 0 to 1, where the stage lies
   * inside.
   */
  readonly share: number;
  /** Error code of a stage that failed. */
  readonly error?: string;
}

/**
 * The stages of jobs as a forest in drawing order: each stage is followed by what lies inside it,
 * by start.
 *
 *     JOB    ├──────────────────────────┤   depth 0
 *     QUEUE  ├──┤                           1
 *     GPU       ├──────────────┤            1
 *     NTT       ├─────┤                     2
 *     MSM_H           ├────────┤            2
 *     VERIFY                   ├────────┤   1
 *
 * @param events in order of arrival
 * @param nowMicros until when running stages are measured; default: the latest time in `events`
 */
export function stagesOf(
  events: readonly ProverEvent[],
  nowMicros: Micros = latestOf(events),
): readonly StageSpan[] {
  const pairs = pairStages(events);
  const extents = extentsOf(pairs, nowMicros);
  const order = drawingOrder(pairs);
  const position = new Map(order.map((pair, index) => [pair, index]));
  const depths = new Map<StagePair, number>();
  return order.map((pair) => {
    const around = pair.parent === undefined ? undefined : pairs[pair.parent];
    const depth = around === undefined ? 0 : (depths.get(around) ?? 0) + 1;
    depths.set(pair, depth);
    const parent = around === undefined ? undefined : position.get(around);
    const { error } = pair.attributes;
    const whole = extents.get(pair.jobId) ?? 0;
    return {
      stage: pair.stage,
      lane: LANES[pair.stage],
      jobId: pair.jobId,
      ...(pair.partition !== undefined && { partition: pair.partition }),
      ...(pair.worker !== undefined && { worker: pair.worker }),
      ...(pair.device !== undefined && { device: pair.device }),
      startMicros: pair.startMicros,
      endMicros: pair.endMicros,
      ...(pair.unfinished === true && { unfinished: true }),
      depth,
      ...(parent !== undefined && { parent }),
      share: whole === 0 ? 0 : durationOf(pair, nowMicros) / whole,
      ...(error !== undefined && { error: String(error) }),
    };
  });
}

/** The latest time in `events`: now, for a stream that was cut off there. */
export function latestOf(events: readonly ProverEvent[]): Micros {
  return events.reduce((latest, { atMicros }) => Math.max(latest, atMicros), 0) as Micros;
}

function durationOf(pair: StagePair, nowMicros: Micros): number {
  return Math.max(0, (pair.endMicros ?? nowMicros) - pair.startMicros);
}

/**
 * Micros that each job took: of its JOB stage or, without one, from its first start to its last
 * end.
 */
function extentsOf(pairs: readonly StagePair[], nowMicros: Micros): ReadonlyMap<string, number> {
  const ranges = new Map<string, { start: number; end: number; whole: boolean }>();
  for (const pair of pairs) {
    const start = pair.startMicros;
    const end = start + durationOf(pair, nowMicros);
    const range = ranges.get(pair.jobId);
    if (range === undefined || pair.stage === 'JOB') {
      ranges.set(pair.jobId, { start, end, whole: pair.stage === 'JOB' });
    } else if (!range.whole) range.end = Math.max(range.end, end);
  }
  return new Map([...ranges].map(([jobId, { start, end }]) => [jobId, end - start]));
}

/**
 * Pre-order with an explicit stack: a trace may be deep, and a frame a stage is not spent on it.
 */
function drawingOrder(pairs: readonly StagePair[]): readonly StagePair[] {
  const inside = new Map<StagePair | undefined, StagePair[]>();
  for (const pair of pairs) {
    const around = pair.parent === undefined ? undefined : pairs[pair.parent];
    const siblings = inside.get(around);
    if (siblings === undefined) inside.set(around, [pair]);
    else siblings.push(pair);
  }
  const order: StagePair[] = [];
  const pending = (inside.get(undefined) ?? []).toReversed();
  for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
    order.push(pair);
    pending.push(...(inside.get(pair) ?? []).toReversed());
  }
  return order;
}
