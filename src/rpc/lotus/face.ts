import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Context, Hono } from 'hono';
import type { PayloadStore } from '../../jobs/payloads.ts';
import type { JobService } from '../../jobs/service.ts';
import { bodyChunks, type Env } from '../body.ts';
import type { PublicError } from '../errors.ts';
import type { Admission } from '../guard.ts';
import type { LotusAccess, Permissions } from './auth.ts';
import { ROLES, type WorkerEndpoint } from './endpoint.ts';
import { faultReply, GoJsonRpc, type Reply, RpcFault } from './envelope.ts';
import { BODY_BYTES_MAX, BodyTooLargeError, readSpilling, type SpilledText } from './json-spill.ts';
import { remoteCommit2 } from './remote-c2.ts';
import { serveSocket } from './socket.ts';
import { discardBytes, type StoredBytes, storeBytes } from './stored-bytes.ts';
import { handshake, WebSocketConnection } from './websocket.ts';
import type { LotusWorker } from './worker.ts';
import { workerMethods } from './worker-methods.ts';

const VERSIONS = ['v0', 'v1'] as const;

export interface FaceOptions {
  readonly worker: LotusWorker;
  /** The first is the one that answers at /rpc/v0, too. */
  readonly endpoints: readonly WorkerEndpoint[];
  readonly access: LotusAccess;
  readonly jobs: JobService;
  readonly payloads: PayloadStore;
  readonly admits: Admission;
  describeError(thrown: unknown): PublicError;
}

/**
 * The worker API of Lotus over HTTP: POST, and WebSockets on the same paths; `/rpc/v0`, and a path
 * for each role.
 */
export class LotusFace {
  readonly #options: FaceOptions;
  readonly #rpc: GoJsonRpc;
  readonly #paths = new Map<string, WorkerEndpoint>();
  readonly #sockets = new Set<WebSocketConnection>();

  constructor(options: FaceOptions) {
    this.#options = options;
    this.#rpc = new GoJsonRpc(workerMethods(options.worker), options.describeError);
    for (const version of VERSIONS) {
      for (const endpoint of options.endpoints) {
        this.#paths.set(`${ROLES[endpoint.role].path}/rpc/${version}`, endpoint);
      }
      this.#paths.set(`/rpc/${version}`, options.endpoints[0] as WorkerEndpoint);
    }
  }

  mount(app: Hono<Env>): void {
    for (const [path, endpoint] of this.#paths) app.all(path, (c) => this.#post(c, endpoint));
    app.post('/remote/c2', (c) => remoteCommit2(c, this.#options));
  }

  /** Whether an upgrade is to one of the paths here. */
  owns(url: string | undefined): boolean {
    return this.#paths.has(pathOf(url));
  }

  /** Takes a connection that asks to become a WebSocket on one of the paths. Never rejects. */
  async upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    // From here on it is ours: without a listener, its error would end the process.
    socket.on('error', () => {});
    try {
      const permissions = await this.#admitted(request);
      if (typeof permissions === 'string') return refuse(socket, permissions);
      socket.write(handshake(request) as string);
      await this.#serve(new WebSocketConnection(socket, head), request, permissions);
    } catch (thrown) {
      this.#options.describeError(thrown);
      refuse(socket, '500 Internal Server Error');
    }
  }

  /** What the request permits, or the status that refuses it. */
  async #admitted(request: IncomingMessage): Promise<Permissions | string> {
    const { access, admits } = this.#options;
    const { host, origin, authorization } = request.headers;
    if (handshake(request) === undefined) return '400 Bad Request';
    if (admits(host, origin) !== undefined) return '403 Forbidden';
    const token = new URL(request.url ?? '', 'http://localhost').searchParams.get('token');
    return (await access.permissions(authorization, token ?? undefined)) ?? '401 Unauthorized';
  }

  async #serve(
    connection: WebSocketConnection,
    { url }: IncomingMessage,
    permissions: Permissions,
  ): Promise<void> {
    const endpoint = this.#paths.get(pathOf(url)) as WorkerEndpoint;
    this.#sockets.add(connection);
    await serveSocket(connection, {
      rpc: this.#rpc,
      read: (message) => this.#read(message, permissions),
      contextOf: (signal) => ({ endpoint, permissions, signal }),
    });
    this.#sockets.delete(connection);
  }

  /** Ends the WebSockets, which the server does not count among its connections. */
  close(): void {
    for (const connection of this.#sockets) connection.destroy();
  }

  async #post(c: Context<Env>, endpoint: WorkerEndpoint): Promise<Response> {
    const authorization = c.req.header('authorization');
    const permissions = await this.#options.access.permissions(authorization, c.req.query('token'));
    if (permissions === undefined) return c.body(null, 401);
    let reply: Reply;
    try {
      if (Number(c.req.header('content-length') ?? 0) > BODY_BYTES_MAX) {
        throw new BodyTooLargeError(BODY_BYTES_MAX);
      }
      const body = await this.#read(bodyChunks(c), permissions);
      const { signal } = c.req.raw;
      reply = await this.#rpc.answer(body, { endpoint, permissions, signal });
    } catch (thrown) {
      if (!(thrown instanceof BodyTooLargeError)) throw thrown;
      reply = faultReply(null, new RpcFault(-32700, thrown.message, 500));
    }
    return c.body(reply.text, reply.status, { 'content-type': 'application/json' });
  }

  /** Only who may have something proved may have it stored. */
  #read(
    source: AsyncIterable<Uint8Array>,
    permissions: Permissions,
  ): Promise<SpilledText<StoredBytes>> {
    const { payloads } = this.#options;
    const spill = permissions.includes('admin')
      ? (bytes: AsyncIterable<Uint8Array>) => storeBytes(payloads, bytes, BODY_BYTES_MAX)
      : discardBytes;
    return readSpilling(source, { bytesMax: BODY_BYTES_MAX, spill });
  }
}

function pathOf(url: string | undefined): string {
  return (url ?? '').split('?', 1)[0] as string;
}

function refuse(socket: Duplex, status: string): void {
  socket.end(`HTTP/1.1 ${status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
}
