import type { Context, MiddlewareHandler } from 'hono';
import { ProverError } from '../core/errors.ts';

/** Names by which this machine reaches itself, with any port. */
const LOOPBACK = ['127.0.0.1', 'localhost', '[::1]'];

/** Says which part of a request is foreign, or that none is. Both as the headers have them. */
export type Admission = (
  host: string | undefined,
  origin: string | undefined,
) => 'host' | 'origin' | undefined;

/**
 * @param names besides the loopback ones
 * @param origins of pages that may call, whatever their name
 */
export function admission(names: readonly string[], origins: readonly string[]): Admission {
  const allowed = new Set([...LOOPBACK, ...names.map((name) => name.toLowerCase())]);
  return (host, origin) => {
    if (!allowed.has(nameOf(`http://${host}`) ?? '')) return 'host';
    const isForeign = origin !== undefined && !allowed.has(nameOf(origin) ?? '');
    return isForeign && !origins.includes(origin) ? 'origin' : undefined;
  };
}

/**
 * Refuses requests that a foreign web page makes a browser send: by DNS rebinding (its own name in
 * Host) or across sites (its own origin in Origin). Tools that send no Origin pass.
 */
export function guardHosts(admits: Admission): MiddlewareHandler {
  return async (c, next) => {
    const foreign = admits(hostOf(c), c.req.header('origin'));
    if (foreign !== undefined) throw forbidden(foreign);
    await next();
  };
}

/** Answers the preflight of the listed origins and lets their pages read answers; no other's. */
export function allowOrigins(origins: readonly string[]): MiddlewareHandler {
  return async (c, next) => {
    const origin = c.req.header('origin');
    if (origin === undefined || !origins.includes(origin)) return next();
    c.header('access-control-allow-origin', origin);
    c.header('vary', 'origin');
    if (c.req.method !== 'OPTIONS') return next();
    c.header('access-control-allow-methods', 'GET, POST, PUT');
    c.header('access-control-allow-headers', 'authorization, content-type, last-event-id');
    c.header('access-control-max-age', '600');
    return c.body(null, 204);
  };
}

/** Headers for every answer: nothing here is a page, and nothing is to be kept by a cache. */
export const securityHeaders: MiddlewareHandler = async (c, next) => {
  await next();
  c.header('x-content-type-options', 'nosniff');
  c.header('cache-control', 'no-store');
  c.header('content-security-policy', "default-src 'none'; frame-ancestors 'none'");
  c.header('cross-origin-resource-policy', 'same-origin');
  c.header('referrer-policy', 'no-referrer');
};

/** Without a socket, as in tests, a request has no Host header but the name in its URL. */
function hostOf(c: Context): string {
  return c.req.header('host') ?? new URL(c.req.url).host;
}

/** Host name of an http or https origin that is nothing more than an origin. */
function nameOf(origin: string): string | undefined {
  const match = /^https?:\/\/([a-z0-9.-]+|\[[0-9a-f:.]+\])(:\d{1,5})?$/i.exec(origin);
  return match?.[1]?.toLowerCase();
}

function forbidden(subject: string): ProverError {
  const expected = 'a name of this service (127.0.0.1, localhost, [::1] or a configured one)';
  return new ProverError('ERR_FORBIDDEN', { subject, expected, actual: 'another' });
}
