import { randomBytes } from 'node:crypto';
import {
  type Attributes,
  type Context,
  type HrTime,
  ROOT_CONTEXT,
  type Span,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import type { Micros } from '../core/units.ts';
import { ATTRIBUTES, FROM_EVENT } from './attributes.ts';
import type { EventListener, ProverEvent } from './events.ts';
import { pairStages, type StagePair } from './stage-pairs.ts';

/** Events kept of one job; a partition has about thirty. */
const EVENTS_PER_JOB_MAX = 10_000;

/** Identifiers of spans: random, except that a job's trace has the id that the job was given. */
export class TraceIds {
  #traceId: string | undefined;

  generateTraceId(): string {
    return this.#traceId ?? randomBytes(16).toString('hex');
  }

  generateSpanId(): string {
    return randomBytes(8).toString('hex');
  }

  /** Runs `start`, in which a new trace gets the given id. */
  within<T>(traceId: string | undefined, start: () => T): T {
    this.#traceId = traceId;
    try {
      return start();
    } finally {
      this.#traceId = undefined;
    }
  }
}

interface PendingJob {
  readonly events: ProverEvent[];
  dropped: number;
}

/**
 * Turns each job's events into one trace: the span JOB and, nested as the stages were, a span a
 * stage, with the events' own times. The spans are made when the job ends, because a backend
 * reports a stage only after those inside it; a stage that never ended ends with the one around it.
 * JOB_START may carry `traceId` (32 hex digits: the trace's id), `parentSpanId` (16: the caller's
 * span) and `parentSampled` (false where the caller does not record its trace).
 */
export class SpanRecorder {
  readonly #tracer: Tracer;
  readonly #ids: TraceIds;
  readonly #jobs = new Map<string, PendingJob>();

  /** @param ids what `tracer` draws its identifiers from */
  constructor(tracer: Tracer, ids: TraceIds) {
    this.#tracer = tracer;
    this.#ids = ids;
  }

  readonly listener: EventListener = (event) => {
    const { jobId } = event;
    if (event.event === 'JOB_START') this.#jobs.set(jobId, { events: [], dropped: 0 });
    const job = this.#jobs.get(jobId);
    if (job === undefined) return;
    const ends = event.event === 'JOB_END';
    if (job.events.length < EVENTS_PER_JOB_MAX || ends) job.events.push(event);
    else job.dropped++;
    if (!ends) return;
    this.#jobs.delete(jobId);
    this.#record(job);
  };

  #record({ events, dropped }: PendingJob): void {
    const pairs = pairStages(events);
    const job = pairs.findIndex(({ stage }) => stage === 'JOB');
    const root = this.#startRoot(pairs[job] as StagePair);
    if (dropped > 0) root.setAttribute(ATTRIBUTES.eventsDropped, dropped);
    for (const event of events) {
      if (event.event !== 'GPU_QUEUE' && event.event !== 'GPU_PICKUP') continue;
      root.addEvent(event.event, placeOf(event), timeOf(event.atMicros));
    }
    const spans: Span[] = [];
    pairs.forEach((pair, index) => {
      const around = pair.parent === undefined ? root : (spans[pair.parent] ?? root);
      const context = trace.setSpan(ROOT_CONTEXT, around);
      spans[index] = index === job ? root : this.#start(pair, context);
    });
    spans.forEach((span, index) => {
      endSpan(span, pairs[index] as StagePair);
    });
  }

  #startRoot(pair: StagePair): Span {
    const { traceId, parentSpanId, parentSampled } = pair.attributes;
    if (typeof traceId !== 'string') return this.#start(pair, ROOT_CONTEXT);
    if (typeof parentSpanId !== 'string') {
      return this.#ids.within(traceId, () => this.#start(pair, ROOT_CONTEXT));
    }
    const caller = {
      traceId,
      spanId: parentSpanId,
      traceFlags: parentSampled === false ? TraceFlags.NONE : TraceFlags.SAMPLED,
      isRemote: true,
    };
    return this.#start(pair, trace.setSpanContext(ROOT_CONTEXT, caller));
  }

  #start(pair: StagePair, context: Context): Span {
    const options = { startTime: timeOf(pair.startMicros), attributes: attributesOf(pair) };
    return this.#tracer.startSpan(pair.stage, options, context);
  }
}

function endSpan(span: Span, pair: StagePair): void {
  const { error } = pair.attributes;
  if (error !== undefined) {
    span.setStatus({ code: SpanStatusCode.ERROR, message: String(error) });
  } else if (pair.unfinished === true) {
    span.setStatus({ code: SpanStatusCode.ERROR, message: 'no end was reported' });
  }
  span.end(timeOf(pair.endMicros ?? pair.startMicros));
}

function attributesOf(pair: StagePair): Attributes {
  const attributes = placeOf(pair);
  attributes[ATTRIBUTES.jobId] = pair.jobId;
  if (pair.unfinished === true) attributes[ATTRIBUTES.unfinished] = true;
  for (const [name, value] of Object.entries(pair.attributes)) {
    const known = Object.hasOwn(FROM_EVENT, name) ? FROM_EVENT[name] : undefined;
    if (known !== undefined) attributes[known] = value;
  }
  return attributes;
}

function placeOf(place: Pick<ProverEvent, 'partition' | 'worker' | 'device'>): Attributes {
  const { partition, worker, device } = place;
  return {
    ...(partition !== undefined && { [ATTRIBUTES.partition]: partition }),
    ...(worker !== undefined && { [ATTRIBUTES.worker]: worker }),
    ...(device !== undefined && { [ATTRIBUTES.device]: device }),
  };
}

function timeOf(micros: Micros): HrTime {
  const seconds = Math.floor(micros / 1e6);
  return [seconds, (micros - seconds * 1e6) * 1000];
}
