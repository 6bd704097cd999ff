import { Hono } from 'hono';
import { ProverError } from '../core/errors.ts';
import { GIB } from '../core/units.ts';
import { Metrics } from '../telemetry/metrics.ts';
import { Access, requireScope } from './access.ts';
import { clientIsGone, type Env } from './body.ts';
import type { LogLevelSwitch, ServiceContext, Services } from './context.ts';
import { openapiDocument, openrpcDocument } from './documents.ts';
import { errorDescriber, errorHeaders, httpStatus, publicError } from './errors.ts';
import { Eta } from './eta.ts';
import { EventLog } from './event-log.ts';
import { admission, allowOrigins, guardHosts, securityHeaders } from './guard.ts';
import { JobQuota } from './job-quota.ts';
import { RateLimit } from './limits.ts';
import { ROUTES } from './routes.ts';
import { StatusReporter } from './service-status.ts';
import type { TokenStore } from './tokens.ts';

/** Events that a client can resume after. */
const EVENTS_KEPT = 10_000;

export interface AppOptions {
  readonly version: string;
  /** Aborted once the service shuts down; from then on it is not ready. */
  readonly shutdown?: AbortSignal;
  /** Host names, besides the loopback ones, that Host and Origin may carry. */
  readonly allowedHosts?: readonly string[];
  /** Origins of web pages that may call the service from a browser. */
  readonly corsOrigins?: readonly string[];
  /** Default 1 GiB. */
  readonly uploadLimitBytes?: number;
  readonly tokens: TokenStore;
  /** Of each token. */
  readonly requestsPerMinute: number;
  /** Unsettled jobs of each token. */
  readonly jobsPerToken: number;
  readonly logLevel: LogLevelSwitch;
  /** The worker of a Lotus miner. Absent: its paths are unknown. */
  readonly lotus?: { mount(app: Hono<Env>): void };
  /** Hears each unexpected error, under the reference that the client was given. */
  onInternalError?(error: unknown, reference: string): void;
}

/**
 * The HTTP interface: JSON-RPC, its REST mirrors, status and health. It holds no state besides
 * counters.
 */
export function createApp(services: Services, options: AppOptions): Hono<Env> {
  const { version, shutdown = new AbortController().signal } = options;
  const describeError = errorDescriber(options.onInternalError);
  const context: ServiceContext = {
    services,
    status: new StatusReporter(services, { version, shutdown }),
    documents: { openapi: openapiDocument(version), openrpc: openrpcDocument(version) },
    uploadLimitBytes: options.uploadLimitBytes ?? GIB,
    describeError,
    access: new Access(options.tokens, new RateLimit(options.requestsPerMinute)),
    quota: new JobQuota(options.jobsPerToken, services.events),
    eta: new Eta(services.events),
    eventLog: new EventLog(services.events, EVENTS_KEPT),
    metrics: createMetrics(services),
    logLevel: options.logLevel,
  };
  const app = new Hono<Env>();
  const origins = options.corsOrigins ?? [];
  const admits = admission(options.allowedHosts ?? [], origins);
  app.use(securityHeaders, allowOrigins(origins), guardHosts(admits));
  options.lotus?.mount(app);
  for (const { config, scope, handle } of ROUTES) {
    app.on(config.method, honoPath(config.path), (c) => {
      if (scope !== 'anyone') {
        const caller = context.access.admit(c);
        requireScope(caller, scope);
        c.set('caller', caller);
      }
      return handle(c, context);
    });
  }
  app.notFound((c) => {
    context.access.admit(c);
    const error = publicError(new ProverError('ERR_ROUTE_UNKNOWN', {}), '');
    const verbs = verbsOf(c.req.path);
    if (verbs.length === 0) return c.json({ error }, httpStatus(error));
    return c.json({ error }, 405, { allow: verbs.join(', ') });
  });
  app.onError((thrown, c) => {
    if (clientIsGone(c)) return c.body(null, 400);
    const error = describeError(thrown);
    return c.json({ error }, httpStatus(error), errorHeaders(error));
  });
  return app;
}

function createMetrics({ jobs, events }: Services): Metrics {
  const metrics = new Metrics({
    queueDepth: () => jobs.queue().depth,
    queueAgeSeconds: () => jobs.queue().ageSeconds,
    hosts: () => jobs.hosts(),
  });
  events.subscribe(metrics.listener);
  return metrics;
}

function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

/** Verbs that the path answers to. */
function verbsOf(path: string): string[] {
  return ROUTES.filter(({ config }) => {
    const pattern = config.path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+');
    return new RegExp(`^${pattern}$`).test(path);
  }).map(({ config }) => config.method.toUpperCase());
}
