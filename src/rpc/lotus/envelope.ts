import { ProverError } from '../../core/errors.ts';
import { JsonError, type JsonLimits, parseJson } from '../../core/json.ts';
import type { PublicError } from '../errors.ts';
import { Base64Error } from './base64.ts';
import { GoTypeError, type Spills } from './go-values.ts';
import type { SpilledText } from './json-spill.ts';
import type { StoredBytes } from './stored-bytes.ts';
import type { CallContext, WorkerMethod } from './worker-methods.ts';

/** A partition of WindowPoSt has 2,349 sectors of 17 values and 6 names each. */
const JSON_LIMITS: JsonLimits = { levels: 32, values: 300_000, names: 100_000 };
const BATCH_MAX = 100;

type Id = string | number | null;

/** What is sent back. An empty text answers a notification. */
export interface Reply {
  readonly status: 200 | 400 | 500;
  readonly text: string;
}

/** An error of the protocol, or one that a method chose to answer. */
export class RpcFault extends Error {
  override readonly name = 'RpcFault';
  readonly code: number;
  readonly status: Reply['status'];

  constructor(code: number, message: string, status: Reply['status']) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

/** What a method of a Go server returns as an error: code 1, and HTTP is content. */
export function goError(message: string): RpcFault {
  return new RpcFault(1, message, 200);
}

const parseError = (message: string) => new RpcFault(-32700, message, 500);

/**
 * JSON-RPC as filecoin-project/go-jsonrpc speaks it, which is not as its specification has it: its
 * texts, codes and HTTP statuses, a null id that notifies, parameters by position alone.
 */
export class GoJsonRpc {
  readonly #methods: ReadonlyMap<string, WorkerMethod>;
  readonly #describeError: (thrown: unknown) => PublicError;

  /** @param describeError reports what was not expected and says what a client may know of it */
  constructor(
    methods: ReadonlyMap<string, WorkerMethod>,
    describeError: (thrown: unknown) => PublicError,
  ) {
    this.#methods = methods;
    this.#describeError = describeError;
  }

  /** A body of HTTP: a request, or a batch, whose requests run one after another. */
  async answer(body: SpilledText<StoredBytes>, call: CallContext): Promise<Reply> {
    const begin = body.text.toString('latin1', 0, 64).trimStart();
    if (begin === '') return faultReply(null, new RpcFault(-32600, 'Invalid request', 400));
    const message = parseBody(body);
    if (message === undefined) return faultReply(null, parseError('Parse error'));
    if (!Array.isArray(message)) return await this.answerOne(message, body.spilled, call);
    if (message.length === 0 || message.length > BATCH_MAX) {
      return faultReply(null, new RpcFault(-32600, 'Invalid request', 400));
    }
    const texts: string[] = [];
    for (const one of message) {
      const { text } = await this.answerOne(one, body.spilled, call);
      if (text !== '') texts.push(text);
    }
    return { status: 200, text: `[${texts.join(',')}]` };
  }

  async answerOne(message: unknown, spilled: Spills, call: CallContext): Promise<Reply> {
    let request: Request;
    try {
      request = parseRequest(message);
    } catch (thrown) {
      return faultReply(null, this.#faultOf(thrown, '', call));
    }
    const { id, method } = request;
    try {
      const result = await this.#run(request, spilled, call);
      if (id === null) return { status: 200, text: '' };
      return { status: 200, text: `${goJson({ id, jsonrpc: '2.0', result: result ?? null })}\n` };
    } catch (thrown) {
      const fault = this.#faultOf(thrown, method, call);
      if (id === null && fault.code > 0) return { status: 200, text: '' };
      return faultReply(id, fault);
    }
  }

  async #run(request: Request, spilled: Spills, call: CallContext): Promise<unknown> {
    const { method: name } = request;
    const method = this.#methods.get(name);
    if (method === undefined) throw new RpcFault(-32601, `method '${name}' not found`, 500);
    const params = paramsOf(request);
    const { types } = method;
    if (params.length !== types.length) {
      const counts = `${params.length} != ${types.length}`;
      throw new RpcFault(-32602, `wrong param count (method '${name}'): ${counts}`, 500);
    }
    const decoded = types.map((type, i) => {
      try {
        return type.decode(params[i], spilled);
      } catch (thrown) {
        if (!(thrown instanceof GoTypeError || thrown instanceof Base64Error)) throw thrown;
        const what = `'${name}' (param: *${type.name})`;
        throw parseError(`unmarshaling params for ${what}: ${thrown.message}`);
      }
    });
    if (!call.permissions.includes('admin')) {
      const bare = name.slice(name.indexOf('.') + 1);
      throw goError(`missing permission to invoke '${bare}' (need 'admin')`);
    }
    return await method.run(call, decoded);
  }

  #faultOf(thrown: unknown, method: string, { signal }: CallContext): RpcFault {
    if (thrown instanceof RpcFault) return thrown;
    if (signal.aborted) return goError('context canceled');
    const error = this.#describeError(thrown);
    if (thrown instanceof ProverError && error.code !== 'ERR_INTERNAL') {
      return goError(error.message);
    }
    const text = `fatal error calling '${method}': panic in rpc method: ${error.message}`;
    return new RpcFault(0, text, 500);
  }
}

interface Request {
  /** Null: a notification. */
  readonly id: Id;
  readonly method: string;
  readonly params: unknown;
}

/** Undefined: it is no JSON. */
export function parseBody({ text }: SpilledText<unknown>): unknown {
  try {
    return parseJson(text, JSON_LIMITS);
  } catch (thrown) {
    if (thrown instanceof JsonError) return undefined;
    throw thrown;
  }
}

/** @throws RpcFault for what Go's decoder would refuse */
function parseRequest(message: unknown): Request {
  if (typeof message !== 'object' || message === null || Array.isArray(message)) {
    throw parseError('Parse error');
  }
  const fields = new Map(
    Object.entries(message).map(([name, value]) => [name.toLowerCase(), value]),
  );
  const id = fields.get('id') ?? null;
  const method = fields.get('method') ?? '';
  const jsonrpc = fields.get('jsonrpc') ?? '';
  const meta = fields.get('meta') ?? {};
  const isMeta =
    typeof meta === 'object' && Object.values(meta).every((v) => typeof v === 'string');
  if (typeof method !== 'string' || typeof jsonrpc !== 'string' || !isMeta) {
    throw parseError('Parse error');
  }
  if (id !== null && typeof id !== 'string' && typeof id !== 'number') {
    throw parseError(
      `failed to parse ID: invalid id type: ${Array.isArray(id) ? 'array' : typeof id}`,
    );
  }
  return { id, method, params: fields.get('params') ?? [] };
}

function paramsOf({ params }: Request): readonly unknown[] {
  if (Array.isArray(params)) return params;
  const kind = typeof params === 'boolean' ? 'bool' : typeof params;
  throw parseError(
    `unmarshaling param array: json: cannot unmarshal ${kind} into Go value of type []jsonrpc.param`,
  );
}

export function faultReply(id: Id, { code, message, status }: RpcFault): Reply {
  return { status, text: `${goJson({ error: { code, message }, id, jsonrpc: '2.0' })}\n` };
}

/** As encoding/json writes it: what would end a script in HTML is escaped. */
export function goJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
