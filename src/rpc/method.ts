import type { z } from '@hono/zod-openapi';
import { type ErrorCode, ProverError } from '../core/errors.ts';
import { requireScope } from './access.ts';
import type { Call } from './context.ts';
import type { Scope } from './tokens.ts';

/**
 * A method of the service. Its two schemas are the one source of validation, OpenAPI and OpenRPC.
 */
export interface Method<R = unknown> {
  readonly summary: string;
  /** What a caller's token must allow. */
  readonly scope: Scope;
  readonly params: z.ZodObject;
  readonly result: z.ZodType<R>;
  /** Codes it may answer besides ERR_PARAMS and ERR_INTERNAL. */
  readonly errors: readonly ErrorCode[];
  /** Checks scope and parameters, then runs. @throws ERR_SCOPE, ERR_PARAMS and `errors` */
  invoke(params: unknown, call: Call): Promise<R>;
}

interface Definition<P extends z.ZodObject, R> extends Omit<Method<R>, 'invoke'> {
  readonly params: P;
  run(params: z.output<P>, call: Call): Promise<R> | R;
}

export function defineMethod<P extends z.ZodObject, R>(definition: Definition<P, R>): Method<R> {
  const { run, ...method } = definition;
  return {
    ...method,
    async invoke(params, call) {
      requireScope(call.caller, method.scope);
      return run(parseParams(method.params, params), call);
    },
  };
}

/** The first thing wrong is named by its path and expectation; its value is never repeated. */
export function parseParams<P extends z.ZodObject>(schema: P, params: unknown): z.output<P> {
  const parsed = schema.safeParse(params);
  if (parsed.success) return parsed.data as z.output<P>;
  const issue = parsed.error.issues[0] as z.core.$ZodIssue;
  const subject = ['params', ...issue.path].join('.');
  if (issue.code === 'unrecognized_keys') {
    const known = Object.keys(schema.shape).join(', ') || 'none';
    const expected = issue.path.length === 0 ? `only the fields ${known}` : 'only its own fields';
    throw new ProverError('ERR_PARAMS', { subject, expected, actual: quote(issue.keys[0]) });
  }
  const expected = /expected (.*?)(, received .*)?$/.exec(issue.message)?.[1] ?? issue.message;
  const value = issue.path.reduce<unknown>(
    (at, step) => (at as Record<PropertyKey, unknown> | undefined)?.[step],
    params,
  );
  throw new ProverError('ERR_PARAMS', { subject, expected, actual: kindOf(value) });
}

function quote(name: string | undefined): string {
  return /^[\w.-]{1,64}$/.test(name ?? '') ? `${name}` : 'another one';
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  if (typeof value === 'object') return 'an object';
  return `another ${typeof value}`;
}
