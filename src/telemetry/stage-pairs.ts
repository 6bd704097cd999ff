import type { Micros } from '../core/units.ts';
import type { AttributeValue, ProverEvent, Stage } from './events.ts';

/** A stage that ran or runs: one start and, once there is one, its end. */
export interface StagePair {
  readonly stage: Stage;
  readonly jobId: string;
  readonly partition?: number;
  readonly worker?: number;
  readonly device?: string;
  readonly startMicros: Micros;
  /** Absent while the stage runs. Never before the start. */
  readonly endMicros?: Micros;
  /** No end was reported: the stage is taken to end where the stage around it ended. */
  readonly unfinished?: true;
  /** Index of the stage around this one; always smaller than this one's own. */
  readonly parent?: number;
  /** Of the start, then of the end. */
  readonly attributes: Readonly<Record<string, AttributeValue>>;
}

/** Which stages may lie inside which, nearest first: the one copy of how a job's trace nests. */
const WITHIN: Readonly<Record<Stage, readonly Stage[]>> = {
  JOB: [],
  QUEUE: ['JOB'],
  STORE: ['JOB'],
  RECHECK: ['JOB'],
  HOST_BOOT: ['JOB'],
  SRS_LOAD: ['RECHECK', 'JOB'],
  VANILLA: ['JOB'],
  LAYOUT: ['JOB'],
  SYNTH: ['STAGE', 'RECHECK', 'JOB'],
  STAGE: ['RECHECK', 'JOB'],
  GPU: ['RECHECK', 'JOB'],
  FINISH: ['RECHECK', 'JOB'],
  VERIFY: ['RECHECK', 'JOB'],
  EVALUATE: ['STAGE', 'RECHECK', 'JOB'],
  H2D: ['STAGE', 'SRS_LOAD', 'GPU', 'RECHECK', 'JOB'],
  NTT: ['GPU', 'RECHECK', 'JOB'],
  MSM_H: ['GPU', 'RECHECK', 'JOB'],
  MSM_L: ['GPU', 'RECHECK', 'JOB'],
  MSM_A: ['GPU', 'RECHECK', 'JOB'],
  MSM_B_G1: ['GPU', 'RECHECK', 'JOB'],
  MSM_B_G2: ['GPU', 'RECHECK', 'JOB'],
};

/** The stage whose start or end an event is; undefined for the moments GPU_QUEUE and GPU_PICKUP. */
export function edgeOf(event: ProverEvent): { stage: Stage; edge: 'start' | 'end' } | undefined {
  const match = /^(.+)_(START|END)$/.exec(event.event);
  if (match === null) return undefined;
  return { stage: match[1] as Stage, edge: match[2] === 'START' ? 'start' : 'end' };
}

/** What tells stages of one name apart. Two with one identity never overlap, except by nesting. */
export function identityOf(stage: Stage, event: ProverEvent): string {
  return JSON.stringify([event.jobId, stage, event.partition, event.worker, event.device]);
}

/**
 * Pairs starts with ends. An end belongs to the latest open start of its identity; ends without a
 * start are left out. A stage that a host and its backend both report (the same identity, one
 * inside the other) counts once, as the outer.
 * @param events in order of arrival, which need not be the order of their times
 * @returns by start; of equal starts, the stage around the other first
 */
export function pairStages(events: readonly ProverEvent[]): readonly StagePair[] {
  const open = new Map<string, OpenStage[]>();
  const found: OpenStage[] = [];
  for (const event of events) {
    const edge = edgeOf(event);
    if (edge === undefined) continue;
    const key = identityOf(edge.stage, event);
    const stack = open.get(key) ?? [];
    open.set(key, stack);
    if (edge.edge === 'start') {
      const started: OpenStage = { stage: edge.stage, key, start: event };
      stack.push(started);
      found.push(started);
      continue;
    }
    const ended = stack.pop();
    if (ended === undefined) continue;
    ended.end = event;
    markTwins(found, ended);
  }
  const kept = found.filter(({ twin }) => twin !== true);
  kept.sort((x, y) => x.start.atMicros - y.start.atMicros || rankOf(x.stage) - rankOf(y.stage));
  return nest(kept);
}

interface OpenStage {
  readonly stage: Stage;
  readonly key: string;
  readonly start: ProverEvent;
  end?: ProverEvent;
  /** Lies inside another stage of the same identity. */
  twin?: true;
}

function markTwins(found: readonly OpenStage[], outer: OpenStage): void {
  for (let i = found.length - 1; found[i] !== outer; i--) {
    const inner = found[i] as OpenStage;
    if (inner.end !== undefined && inner.key === outer.key) inner.twin = true;
  }
}

function rankOf(stage: Stage): number {
  return WITHIN[stage].length;
}

function nest(stages: readonly OpenStage[]): readonly StagePair[] {
  const pairs: StagePair[] = [];
  const byStage = new Map<Stage, number[]>();
  for (const opened of stages) {
    const { stage, start, end } = opened;
    const { jobId, partition, worker, device, atMicros } = start;
    const parent = parentOf(opened, pairs, byStage);
    const around = parent === undefined ? undefined : pairs[parent];
    const endMicros = end?.atMicros ?? around?.endMicros;
    const alike = byStage.get(stage);
    if (alike === undefined) byStage.set(stage, [pairs.length]);
    else alike.push(pairs.length);
    pairs.push({
      stage,
      jobId,
      ...(partition !== undefined && { partition }),
      ...(worker !== undefined && { worker }),
      ...(device !== undefined && { device }),
      startMicros: atMicros,
      ...(endMicros !== undefined && { endMicros: Math.max(atMicros, endMicros) as Micros }),
      ...(end === undefined && endMicros !== undefined && { unfinished: true }),
      ...(parent !== undefined && { parent }),
      attributes: { ...start.attributes, ...end?.attributes },
    });
  }
  return pairs;
}

/** The latest stage, of the nearest kind, that had begun and not yet ended when the child began. */
function parentOf(
  child: OpenStage,
  earlier: readonly StagePair[],
  byStage: ReadonlyMap<Stage, readonly number[]>,
): number | undefined {
  const { start, end } = child;
  for (const kind of WITHIN[child.stage]) {
    const at = byStage.get(kind)?.findLast((index) => {
      const pair = earlier[index] as StagePair;
      return (
        pair.jobId === start.jobId &&
        holds(pair.endMicros, start.atMicros, end?.atMicros) &&
        agree(pair.partition, start.partition) &&
        (kind === 'RECHECK' ||
          (agree(pair.device, start.device) && agree(pair.worker, start.worker)))
      );
    });
    if (at !== undefined) return at;
  }
  return undefined;
}

/**
 * Of two stages back to back the second does not lie in the first, unless it took no time at all.
 */
function holds(outerEnd: Micros | undefined, start: Micros, end: Micros | undefined): boolean {
  return outerEnd === undefined || start < outerEnd || (start === outerEnd && end === start);
}

function agree<T>(x: T | undefined, y: T | undefined): boolean {
  return x === undefined || y === undefined || x === y;
}
