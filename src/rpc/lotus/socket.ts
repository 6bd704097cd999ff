import { faultReply, type GoJsonRpc, parseBody, RpcFault } from './envelope.ts';
import { BodyTooLargeError, type SpilledText } from './json-spill.ts';
import type { StoredBytes } from './stored-bytes.ts';
import { CLOSE, type WebSocketConnection, WebSocketError } from './websocket.ts';
import type { CallContext } from './worker-methods.ts';

/** go-jsonrpc, websocket.go: pings are how both sides see that the other is there. */
const PING_EVERY_MS = 5_000;
/** A client pings, or answers our pings, or is gone. */
const SILENT_MS_MAX = 60_000;
/** Calls of one connection at once; then it is read no further until one has ended. */
const CALLS_MAX = 256;

export interface SocketOptions {
  readonly rpc: GoJsonRpc;
  /** @throws BodyTooLargeError */
  read(message: AsyncIterable<Uint8Array>): Promise<SpilledText<StoredBytes>>;
  contextOf(signal: AbortSignal): CallContext;
}

/** Answers the calls of a WebSocket, all at once, until it is closed. */
export async function serveSocket(
  connection: WebSocketConnection,
  options: SocketOptions,
): Promise<void> {
  const calls = new Calls(connection, options);
  const pings = setInterval(() => {
    if (performance.now() - connection.heardAt > SILENT_MS_MAX) connection.destroy();
    else connection.ping();
  }, PING_EVERY_MS);
  try {
    for await (const message of connection.messages()) {
      const body = await options.read(message);
      await calls.take(body);
    }
  } catch (thrown) {
    if (thrown instanceof BodyTooLargeError) {
      connection.send(faultReply(null, new RpcFault(-32700, thrown.message, 500)).text);
      connection.close(CLOSE.tooLarge);
    } else if (thrown instanceof WebSocketError) connection.close(CLOSE.protocolError);
    else connection.destroy();
  } finally {
    clearInterval(pings);
    calls.abandon();
  }
}

/** The calls of a connection that have no answer yet. */
class Calls {
  readonly #connection: WebSocketConnection;
  readonly #options: SocketOptions;
  readonly #running = new Map<
    AbortController,
    { readonly id: string; readonly done: Promise<void> }
  >();

  constructor(connection: WebSocketConnection, options: SocketOptions) {
    this.#connection = connection;
    this.#options = options;
  }

  async take(body: SpilledText<StoredBytes>): Promise<void> {
    const message = parseBody(body);
    const { id, method, params } = (message ?? {}) as Readonly<Record<string, unknown>>;
    if (method === 'xrpc.cancel') return this.#cancel(params);
    const controller = new AbortController();
    const { rpc, contextOf } = this.#options;
    const done = rpc
      .answerOne(message, body.spilled, contextOf(controller.signal))
      .then(({ text }) => {
        this.#running.delete(controller);
        if (text !== '') this.#connection.send(text);
      });
    this.#running.set(controller, { id: JSON.stringify(id ?? null), done });
    if (this.#running.size < CALLS_MAX) return;
    await Promise.race([...this.#running.values()].map((call) => call.done));
  }

  /** Nobody is there to hear the answers. */
  abandon(): void {
    for (const controller of this.#running.keys()) controller.abort();
  }

  /** The call is still answered, as its caller expects. */
  #cancel(params: unknown): void {
    const wanted = JSON.stringify(Array.isArray(params) ? (params[0] ?? null) : null);
    for (const [controller, { id }] of this.#running) if (id === wanted) controller.abort();
  }
}
