import type { PayloadStore } from '../jobs/payloads.ts';
import type { JobService } from '../jobs/service.ts';
import type { KeyCatalog } from '../keys/stored-key.ts';
import type { EventStream } from '../telemetry/events.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Access, Caller } from './access.ts';
import type { PublicError } from './errors.ts';
import type { Eta } from './eta.ts';
import type { EventLog } from './event-log.ts';
import type { JobQuota } from './job-quota.ts';
import type { StatusReporter } from './service-status.ts';

/** What the interfaces of the service are built on. */
export interface Services {
  readonly jobs: JobService;
  readonly payloads: PayloadStore;
  readonly keys: KeyCatalog;
  readonly events: EventStream;
}

/** The log's level, which can be changed at run time. */
export interface LogLevelSwitch {
  level: string;
}

/** What a method or a route works with, besides its parameters. */
export interface ServiceContext {
  readonly services: Services;
  readonly status: StatusReporter;
  readonly documents: { readonly openapi: object; readonly openrpc: object };
  readonly uploadLimitBytes: number;
  readonly access: Access;
  readonly quota: JobQuota;
  readonly eta: Eta;
  readonly eventLog: EventLog;
  readonly metrics: Metrics;
  readonly logLevel: LogLevelSwitch;
  /** What the client may know of a thrown value; anything unexpected is reported on the way. */
  describeError(thrown: unknown): PublicError;
}

/** One call of a method. */
export interface Call extends ServiceContext {
  readonly caller: Caller;
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
  /** W3C Trace Context header of the request, unchecked. */
  readonly traceparent?: string;
}
