import { setTimeout } from 'node:timers/promises';
import { trace } from '@opentelemetry/api';
import { ATTRIBUTES } from './attributes.ts';
import type { EventListener } from './events.ts';
import { SpanRecorder, TraceIds } from './spans.ts';

/** A shutdown waits no longer than this for the last spans to leave. */
const SHUTDOWN_MS_MAX = 2_000;
/** A collector that cannot be reached is reported once in this time, not at each batch. */
const WARN_EVERY_MS = 600_000;

export interface TracingOptions {
  readonly version: string;
  /** Takes one line about spans that could not be exported. */
  warn(line: string): void;
}

export interface Tracing {
  /** To be subscribed to the event stream. */
  readonly listener: EventListener;
  /** Sends what is left, for two seconds at most. Never rejects. */
  shutdown(): Promise<void>;
}

/**
 * Exports a trace a job as OpenTelemetry's own environment variables say (`OTEL_EXPORTER_OTLP_*`,
 * `OTEL_TRACES_EXPORTER`, `OTEL_SERVICE_NAME` and so on, which the SDK reads itself): OTLP over
 * http/protobuf by default, http/json on request. To be called only where export is asked for: the
 * SDK is loaded here. A collector that is away costs its spans and a warning, nothing else.
 */
export async function startTracing(options: TracingOptions): Promise<Tracing> {
  const { NodeSDK, core, resources } = await import('@opentelemetry/sdk-node');
  const warn = sparingly(options.warn);
  core.setGlobalErrorHandler(warn);
  const ids = new TraceIds();
  const sdk = new NodeSDK({
    resource: resources.defaultResource().merge(
      resources.resourceFromAttributes({
        [ATTRIBUTES.serviceName]: 'proofline',
        [ATTRIBUTES.serviceVersion]: options.version,
      }),
    ),
    resourceDetectors: [resources.envDetector],
    idGenerator: ids,
    textMapPropagator: null,
    metricReaders: [],
    logRecordProcessors: [],
  });
  sdk.start();
  const recorder = new SpanRecorder(trace.getTracer('proofline', options.version), ids);
  return {
    listener: recorder.listener,
    async shutdown() {
      trace.disable();
      const timer = new AbortController();
      const late = setTimeout(SHUTDOWN_MS_MAX, undefined, { ref: false, signal: timer.signal })
        .then(() => warn(new Error(`the collector took over ${SHUTDOWN_MS_MAX} ms`)))
        .catch(() => {});
      await Promise.race([sdk.shutdown().catch(warn), late]);
      timer.abort();
    },
  };
}

function sparingly(warn: (line: string) => void): (error: unknown) => void {
  let quietUntil = 0;
  return (error) => {
    const now = performance.now();
    if (now < quietUntil) return;
    quietUntil = now + WARN_EVERY_MS;
    warn(`traces were not exported: ${reasonOf(error)}`);
  };
}

function reasonOf(thrown: unknown): string {
  const { message, code } = thrown as { message?: string; code?: string | number };
  return message || String(code ?? 'unknown');
}
