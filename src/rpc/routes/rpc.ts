import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { ProverError } from '../../core/errors.ts';
import { type Env, readJsonBytes } from '../body.ts';
import type { ServiceContext } from '../context.ts';
import { errorHeaders, httpStatus } from '../errors.ts';
import { errorResponse, JsonRpc, type JsonRpcAnswer } from '../json-rpc.ts';
import { METHODS } from '../methods.ts';
import { callOf, json, type Route } from '../route.ts';

const Id = z.union([z.string(), z.number(), z.null()]);
const Request = z
  .object({
    jsonrpc: z.literal('2.0'),
    id: Id.optional().describe('Absent: a notification, which is not answered'),
    method: z.string(),
    params: z.record(z.string(), z.unknown()).optional(),
  })
  .openapi('JsonRpcRequest');
const Response_ = z
  .object({
    jsonrpc: z.literal('2.0'),
    id: Id,
    result: z.unknown().optional(),
    error: z
      .object({ code: z.int(), message: z.string(), data: z.unknown().optional() })
      .optional(),
  })
  .openapi('JsonRpcResponse');

const Answer = z.union([Response_, z.array(Response_)]);

export const rpcRoute: Route = {
  scope: 'read',
  config: {
    method: 'post',
    path: '/rpc',
    summary: 'JSON-RPC 2.0; its methods are described by /openrpc.json',
    request: {
      body: {
        required: true,
        content: { 'application/json': { schema: z.union([Request, z.array(Request)]) } },
      },
    },
    responses: {
      200: json('Answers, those of errors included', Answer),
      204: { description: 'Notifications only' },
      413: json('The body is over 2 MiB', Response_),
      415: json('The body is not application/json', Response_),
    },
  },
  async handle(c, context) {
    let bytes: Uint8Array;
    try {
      bytes = await readJsonBytes(c);
    } catch (thrown) {
      if (!(thrown instanceof ProverError)) throw thrown;
      return refuse(c, context, thrown);
    }
    const rpc = new JsonRpc(METHODS, context.describeError);
    const answer = await rpc.answer(bytes, callOf(c, context));
    return answer === undefined ? c.body(null, 204) : c.json<JsonRpcAnswer>(answer);
  },
};

/** What is wrong with the HTTP request itself has its HTTP status, and still an envelope. */
function refuse(c: Context<Env>, context: ServiceContext, thrown: ProverError): Response {
  const error = context.describeError(thrown);
  return c.json(errorResponse(null, error), httpStatus(error), errorHeaders(error));
}
