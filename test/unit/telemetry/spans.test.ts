import { SpanStatusCode } from '@opentelemetry/api';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Micros } from '../../../src/core/units.ts';
import type { AttributeValue, EventName, ProverEvent } from '../../../src/telemetry/events.ts';
import { SpanRecorder, TraceIds } from '../../../src/telemetry/spans.ts';

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c';
const CALLER = 'b7ad6b7169203331';

const ids = new TraceIds();
const exporter = new InMemorySpanExporter();
const provider = new BasicTracerProvider({
  idGenerator: ids,
  spanProcessors: [new SimpleSpanProcessor(exporter)],
});
let recorder: SpanRecorder;
beforeEach(() => {
  exporter.reset();
  recorder = new SpanRecorder(provider.getTracer('test'), ids);
});

function at(
  ms: number,
  event: EventName,
  attributes?: Record<string, AttributeValue>,
): ProverEvent {
  const onDevice = !/^(JOB|QUEUE)/.test(event);
  return {
    atMicros: (1_700_000_000_123_456 + ms * 1000) as Micros,
    event,
    jobId: 'job-1',
    ...(onDevice && { partition: 0, worker: 0, device: 'cpu-reference:0' }),
    ...(attributes && { attributes }),
  };
}

function record(...events: readonly ProverEvent[]): ReadableSpan[] {
  for (const event of events) recorder.listener(event);
  return exporter.getFinishedSpans();
}

function named(spans: readonly ReadableSpan[], name: string): ReadableSpan {
  return spans.find((span) => span.name === name) as ReadableSpan;
}

/** `JOB>GPU>NTT` for each span. */
function paths(spans: readonly ReadableSpan[]): string[] {
  const byId = new Map(spans.map((span) => [span.spanContext().spanId, span]));
  return spans.map((span) => {
    const names = [];
    for (let s: ReadableSpan | undefined = span; s !== undefined; ) {
      names.unshift(s.name);
      s = byId.get(s.parentSpanContext?.spanId ?? '');
    }
    return names.join('>');
  });
}

const WHOLE = [
  at(0, 'JOB_START', { kind: 'circom', keyDigest: 'ab12', traceId: TRACE_ID }),
  at(0, 'QUEUE_START'),
  at(1, 'QUEUE_END'),
  at(1, 'SRS_LOAD_START'),
  at(4, 'SRS_LOAD_END'),
  at(4, 'GPU_QUEUE'),
  at(4, 'GPU_PICKUP'),
  at(4, 'GPU_START'),
  at(4, 'NTT_START'),
  at(6, 'NTT_END'),
  at(6, 'MSM_H_START'),
  at(9, 'MSM_H_END'),
  at(9, 'GPU_END'),
  at(9, 'VERIFY_START'),
  at(10, 'VERIFY_END'),
  at(10, 'JOB_END', { state: 'completed' }),
];

describe('SpanRecorder', () => {
  it('makes one trace a job, nested as its stages were', () => {
    const spans = record(...WHOLE);
    expect(paths(spans).sort()).toEqual([
      'JOB',
      'JOB>GPU',
      'JOB>GPU>MSM_H',
      'JOB>GPU>NTT',
      'JOB>QUEUE',
      'JOB>SRS_LOAD',
      'JOB>VERIFY',
    ]);
    expect(new Set(spans.map((span) => span.spanContext().traceId))).toEqual(new Set([TRACE_ID]));
    expect(named(spans, 'JOB').parentSpanContext).toBeUndefined();
  });

  it('takes the times of the events', () => {
    const span = named(record(...WHOLE), 'MSM_H');
    expect(span.startTime).toEqual([1_700_000_000, 129_456_000]);
    expect(span.endTime).toEqual([1_700_000_000, 132_456_000]);
  });

  it('says what was proved where', () => {
    const spans = record(...WHOLE);
    expect(named(spans, 'JOB').attributes).toEqual({
      'proofline.job.id': 'job-1',
      'proofline.job.kind': 'circom',
      'proofline.job.state': 'completed',
      'proofline.key.digest': 'ab12',
    });
    expect(named(spans, 'NTT').attributes).toEqual({
      'proofline.job.id': 'job-1',
      'proofline.partition': 0,
      'proofline.worker': 0,
      'proofline.device': 'cpu-reference:0',
    });
    expect(named(spans, 'JOB').events.map(({ name }) => name)).toEqual(['GPU_QUEUE', 'GPU_PICKUP']);
  });

  it('continues the trace of the caller', () => {
    const [start, ...rest] = WHOLE as [ProverEvent, ...ProverEvent[]];
    const attributes = { ...start.attributes, parentSpanId: CALLER };
    const root = named(record({ ...start, attributes }, ...rest), 'JOB');
    expect(root.spanContext().traceId).toBe(TRACE_ID);
    expect(root.parentSpanContext).toMatchObject({ spanId: CALLER, isRemote: true });
  });

  it('records nothing under a caller that does not record its trace', () => {
    const [start, ...rest] = WHOLE as [ProverEvent, ...ProverEvent[]];
    const attributes = { ...start.attributes, parentSpanId: CALLER, parentSampled: false };
    expect(record({ ...start, attributes }, ...rest)).toEqual([]);
  });

  it('draws a trace id where the job has none', () => {
    const spans = record(
      at(0, 'JOB_START'),
      at(1, 'GPU_START'),
      at(2, 'GPU_END'),
      at(3, 'JOB_END'),
    );
    const [one, other] = spans.map((span) => span.spanContext().traceId);
    expect(one).toMatch(/^[0-9a-f]{32}$/);
    expect(one).toBe(other);
    expect(one).not.toBe(TRACE_ID);
  });

  it('nests stages that were reported before the one around them', () => {
    const spans = record(
      at(0, 'JOB_START'),
      at(2, 'H2D_START'),
      at(3, 'H2D_END'),
      at(1, 'SRS_LOAD_START'),
      at(4, 'SRS_LOAD_END'),
      at(5, 'JOB_END'),
    );
    expect(paths(spans)).toContain('JOB>SRS_LOAD>H2D');
  });

  it('marks what failed with its code', () => {
    const error = 'ERR_HOST_CRASHED';
    const spans = record(
      at(0, 'JOB_START'),
      at(1, 'GPU_START'),
      at(2, 'GPU_END', { error }),
      at(3, 'JOB_END', { state: 'failed', error }),
    );
    for (const span of spans) {
      expect(span.status).toEqual({ code: SpanStatusCode.ERROR, message: error });
      expect(span.attributes['error.type']).toBe(error);
    }
    expect(named(record(...WHOLE), 'VERIFY').status.code).toBe(SpanStatusCode.UNSET);
  });

  it('ends what the job left open', () => {
    const spans = record(
      at(0, 'JOB_START'),
      at(1, 'GPU_START'),
      at(2, 'NTT_START'),
      at(5, 'JOB_END'),
    );
    const ntt = named(spans, 'NTT');
    expect(paths(spans)).toContain('JOB>GPU>NTT');
    expect(ntt.ended).toBe(true);
    expect(ntt.endTime).toEqual(named(spans, 'JOB').endTime);
    expect(ntt.status).toEqual({ code: SpanStatusCode.ERROR, message: 'no end was reported' });
    expect(ntt.attributes['proofline.unfinished']).toBe(true);
  });

  it('lets nothing into a span but the attributes it knows', () => {
    const secret = { r: '123', witness: '456', constructor: 'x', kind: 'circom' };
    const [root] = record(at(0, 'JOB_START', secret), at(1, 'JOB_END'));
    expect(Object.keys(root?.attributes ?? {})).toEqual(['proofline.job.id', 'proofline.job.kind']);
  });

  it('keeps a bounded number of events of one job', () => {
    const pair = [at(1, 'NTT_START'), at(1, 'NTT_END')];
    const many = Array.from({ length: 5_000 }, () => pair).flat();
    const spans = record(at(0, 'JOB_START'), ...many, at(2, 'JOB_END'));
    expect(spans).toHaveLength(5_001);
    expect(named(spans, 'JOB').attributes['proofline.events_dropped']).toBe(1);
  });

  it('makes nothing of events of a job it never saw start', () => {
    expect(record(at(0, 'GPU_START'), at(1, 'GPU_END'), at(2, 'JOB_END'))).toEqual([]);
  });
});
