import {
  createJSONRPCErrorResponse,
  type JSONRPCErrorResponse,
  type JSONRPCID,
  type JSONRPCRequest,
  type JSONRPCResponse,
  JSONRPCServer,
} from 'json-rpc-2.0';
import { ERRORS } from '../core/errors.ts';
import { JsonError, parseJson } from '../core/json.ts';
import { JSON_LIMITS } from './body.ts';
import type { Call } from './context.ts';
import type { PublicError } from './errors.ts';
import type { Method } from './method.ts';
import { Turns } from './turns.ts';

export const BATCH_MAX = 100;

export type JsonRpcAnswer = JSONRPCResponse | JSONRPCResponse[];

/**
 * JSON-RPC 2.0 (https://www.jsonrpc.org/specification). The library runs the methods; the envelope
 * is checked here, because the library answers a batch of one with an object, throws on `null` and
 * takes any id.
 */
export class JsonRpc {
  readonly #server: JSONRPCServer<Call>;

  constructor(
    methods: Readonly<Record<string, Method>>,
    describeError: (thrown: unknown) => PublicError,
  ) {
    this.#server = new JSONRPCServer<Call>({ errorListener: () => {} });
    for (const [name, method] of Object.entries(methods)) {
      this.#server.addMethod(name, (params, call) => method.invoke(byName(params), call));
    }
    this.#server.mapErrorToJSONRPCErrorResponse = (id, thrown) =>
      errorResponse(id, describeError(thrown));
  }

  /** @returns undefined when nothing is to be answered: notifications only */
  async answer(bytes: Uint8Array, call: Call): Promise<JsonRpcAnswer | undefined> {
    let message: unknown;
    try {
      message = parseJson(bytes, JSON_LIMITS);
    } catch (thrown) {
      if (!(thrown instanceof JsonError)) throw thrown;
      const detail = `body: expected ${thrown.expected}`;
      return createJSONRPCErrorResponse(null, -32700, 'Parse error', { detail });
    }
    if (!Array.isArray(message)) return (await this.#answerOne(message, call)) ?? undefined;
    if (message.length === 0) return invalidRequest(null, 'batch: expected a request, got none');
    if (message.length > BATCH_MAX) {
      const detail = `batch: expected at most ${BATCH_MAX} requests, got ${message.length}`;
      return invalidRequest(null, detail);
    }
    const turns = new Turns(1);
    const answers = await Promise.all(
      message.map(async (one) => {
        await turns.take();
        return this.#answerOne(one, call);
      }),
    );
    const responses = answers.filter((response) => response !== null);
    return responses.length === 0 ? undefined : responses;
  }

  async #answerOne(message: unknown, call: Call): Promise<JSONRPCResponse | null> {
    if (!isObject(message)) return invalidRequest(null, 'request: expected an object');
    const { id, jsonrpc, method, params } = message;
    if (!isId(id)) return invalidRequest(null, 'id: expected a string, an exact number or null');
    const shownId = id ?? null;
    if (jsonrpc !== '2.0') return invalidRequest(shownId, 'jsonrpc: expected "2.0"');
    if (typeof method !== 'string') return invalidRequest(shownId, 'method: expected a string');
    if (params !== undefined && (params === null || typeof params !== 'object')) {
      return invalidRequest(shownId, 'params: expected an object');
    }
    return this.#server.receive({ ...message, jsonrpc, method } as JSONRPCRequest, call);
  }
}

/**
 * The envelope of an error that is not about one request: over a limit, or of the wrong media type.
 */
export function errorResponse(id: JSONRPCID, error: PublicError): JSONRPCErrorResponse {
  const { code, message, retry, data } = error;
  return createJSONRPCErrorResponse(id, ERRORS[code].rpc, message, { ...data, code, retry });
}

function invalidRequest(id: JSONRPCID, detail: string): JSONRPCResponse {
  return createJSONRPCErrorResponse(id, -32600, 'Invalid Request', { detail });
}

/** Methods take parameters by name; an empty array is no parameters. */
function byName(params: unknown): unknown {
  if (params === undefined || (Array.isArray(params) && params.length === 0)) return {};
  return params;
}

/** Absent, or echoed exactly: not an integer beyond 2^53, which JSON.parse has already changed. */
function isId(id: unknown): id is JSONRPCID | undefined {
  if (typeof id === 'number') {
    return Number.isFinite(id) && (!Number.isInteger(id) || Number.isSafeInteger(id));
  }
  return id === undefined || id === null || typeof id === 'string';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
