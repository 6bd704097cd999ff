import { OpenAPIHono, z } from '@hono/zod-openapi';
import { ERRORS, type ErrorCode } from '../core/errors.ts';
import { toWireName } from '../core/wire-names.ts';
import type { Method } from './method.ts';
import { METHODS } from './methods.ts';
import { responses } from './route.ts';
import { ROUTES } from './routes.ts';

const TITLE = 'Proofline';
/** What any route answers to a caller that may not call it. */
const REFUSALS = ['ERR_UNAUTHORIZED', 'ERR_SCOPE', 'ERR_RATE_LIMITED'] as const;
const LICENSE = { name: 'MIT' };

/** OpenAPI 3.1 of every route. */
export function openapiDocument(version: string): object {
  const registry = new OpenAPIHono();
  const bearer = registry.openAPIRegistry.registerComponent('securitySchemes', 'bearer', {
    type: 'http',
    scheme: 'bearer',
    description: 'Needed once the service has tokens',
  });
  for (const { config, scope } of ROUTES) {
    if (scope === 'anyone') registry.openAPIRegistry.registerPath(config);
    else {
      registry.openAPIRegistry.registerPath({
        ...config,
        description: `Scope: ${scope}`,
        security: [{ [bearer.name]: [] }],
        responses: responses(config.responses, REFUSALS),
      });
    }
  }
  return registry.getOpenAPI31Document({
    openapi: '3.1.0',
    info: { title: TITLE, version, license: LICENSE },
  });
}

/** OpenRPC 1.3 of every method of `POST /rpc`. */
export function openrpcDocument(version: string): object {
  return {
    openrpc: '1.3.2',
    info: { title: TITLE, version, license: LICENSE },
    methods: Object.entries(METHODS).map(([name, method]) => describeMethod(name, method)),
    components: {
      errors: Object.fromEntries(
        Object.entries(ERRORS).map(([code, { rpc, retry, text }]) => [
          code,
          { code: rpc, message: wireText(text), data: { code, retry } },
        ]),
      ),
    },
  };
}

function describeMethod(name: string, method: Method): object {
  const codes: readonly ErrorCode[] = ['ERR_PARAMS', ...method.errors, 'ERR_INTERNAL'];
  return {
    name,
    summary: method.summary,
    paramStructure: 'by-name',
    params: Object.entries(method.params.shape).map(([param, schema]) =>
      describeParam(param, schema),
    ),
    result: { name: `${name}_result`, schema: jsonSchema(method.result, 'output') },
    errors: codes.map((code) => ({ $ref: `#/components/errors/${code}` })),
  };
}

function describeParam(name: string, schema: z.core.$ZodType): object {
  return {
    name,
    required: !z.safeParse(schema, undefined).success,
    schema: jsonSchema(schema, 'input'),
  };
}

function jsonSchema(schema: z.core.$ZodType, io: 'input' | 'output'): object {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { target: 'draft-7', io });
  return rest;
}

/** Its fields under the names that the error's data has. */
function wireText(text: string): string {
  return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => `{${toWireName(name)}}`);
}
