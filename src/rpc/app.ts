import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import { ProverError, toProverError } from '../core/errors.ts';
import { GIB } from '../core/units.ts';
import type { Env } from './body.ts';
import type { ServiceContext, Services } from './context.ts';
import { openapiDocument, openrpcDocument } from './documents.ts';
import { errorHeaders, httpStatus, type PublicError, publicError } from './errors.ts';
import { guardHosts, securityHeaders } from './guard.ts';
import { ROUTES } from './routes.ts';
import { StatusReporter } from './service-status.ts';

export interface AppOptions {
  readonly version: string;
  /** Aborted once the service shuts down; from then on it is not ready. */
  readonly shutdown?: AbortSignal;
  /** Host names, besides the loopback ones, that Host and Origin may carry. */
  readonly allowedHosts?: readonly string[];
  /** Default 1 GiB. */
  readonly uploadLimitBytes?: number;
  /** Hears each unexpected error, under the reference that the client was given. */
  onInternalError?(error: unknown, reference: string): void;
}

/**
 * The HTTP interface: JSON-RPC, its REST mirrors, status and health. It holds no state besides
 * counters.
 */
export function createApp(services: Services, options: AppOptions): Hono<Env> {
  const { version, shutdown = new AbortController().signal } = options;
  const describeError = (thrown: unknown): PublicError => {
    const error = toProverError(thrown);
    const reference = randomUUID();
    if (error.code === 'ERR_INTERNAL') options.onInternalError?.(thrown, reference);
    return publicError(error, reference);
  };
  const context: ServiceContext = {
    services,
    status: new StatusReporter(services, { version, shutdown }),
    documents: { openapi: openapiDocument(version), openrpc: openrpcDocument(version) },
    uploadLimitBytes: options.uploadLimitBytes ?? GIB,
    describeError,
  };
  const app = new Hono<Env>();
  app.use(securityHeaders, guardHosts(options.allowedHosts ?? []));
  for (const { config, handle } of ROUTES) {
    app.on(config.method, honoPath(config.path), (c) => handle(c, context));
  }
  app.notFound((c) => {
    const error = publicError(new ProverError('ERR_ROUTE_UNKNOWN', {}), '');
    const verbs = verbsOf(c.req.path);
    if (verbs.length === 0) return c.json({ error }, httpStatus(error));
    return c.json({ error }, 405, { allow: verbs.join(', ') });
  });
  app.onError((thrown, c) => {
    const error = describeError(thrown);
    return c.json({ error }, httpStatus(error), errorHeaders(error));
  });
  return app;
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
