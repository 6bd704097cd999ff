import type { PayloadStore } from '../jobs/payloads.ts';
import type { JobService } from '../jobs/service.ts';
import type { KeyCatalog } from '../keys/catalog.ts';
import type { EventStream } from '../telemetry/events.ts';
import type { PublicError } from './errors.ts';
import type { StatusReporter } from './service-status.ts';

/** What the interfaces of the service are built on. */
export interface Services {
  readonly jobs: JobService;
  readonly payloads: PayloadStore;
  readonly keys: KeyCatalog;
  readonly events: EventStream;
}

/** What a method or a route works with, besides its parameters. */
export interface ServiceContext {
  readonly services: Services;
  readonly status: StatusReporter;
  readonly documents: { readonly openapi: object; readonly openrpc: object };
  readonly uploadLimitBytes: number;
  /** What the client may know of a thrown value; anything unexpected is reported on the way. */
  describeError(thrown: unknown): PublicError;
}

/** One call of a method. */
export interface Call extends ServiceContext {
  /** Aborted when the client is gone. */
  readonly signal: AbortSignal;
  /** W3C Trace Context header of the request, unchecked. */
  readonly traceparent?: string;
}
