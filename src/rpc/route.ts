import { type RouteConfig, z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { ERRORS, type ErrorCode } from '../core/errors.ts';
import type { Env } from './body.ts';
import type { Call, ServiceContext } from './context.ts';
import { ErrorView } from './schemas.ts';
import type { Scope } from './tokens.ts';

/** One path and verb: how it is described in OpenAPI, and what answers it. */
export interface Route {
  readonly config: RouteConfig;
  /** What a token must allow; `anyone` needs none. Methods of their own scope say `read`. */
  readonly scope: Scope | 'anyone';
  handle(c: Context<Env>, context: ServiceContext): Response | Promise<Response>;
}

export const ErrorBody = z.object({ error: ErrorView });

/**
 * The responses of a route: what it answers when all is well, and the errors by their HTTP status.
 */
export function responses(
  success: RouteConfig['responses'],
  errors: readonly ErrorCode[],
): RouteConfig['responses'] {
  const described = { ...success };
  for (const status of new Set(errors.map((code) => ERRORS[code].http))) {
    const codes = errors.filter((code) => ERRORS[code].http === status);
    const other = described[status];
    const before = other !== undefined && 'description' in other ? [other.description] : [];
    described[status] = json([...before, ...codes].join(', '), ErrorBody);
  }
  return described;
}

export function json(description: string, schema: z.ZodType) {
  return { description, content: { 'application/json': { schema } } };
}

/** The call that a request makes. */
export function callOf(c: Context<Env>, context: ServiceContext): Call {
  const caller = c.get('caller');
  const traceparent = c.req.header('traceparent');
  const { signal } = c.req.raw;
  return { ...context, caller, signal, ...(traceparent !== undefined && { traceparent }) };
}
