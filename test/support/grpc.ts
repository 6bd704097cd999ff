import { EventEmitter } from 'node:events';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { credentials, loadPackageDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import type { Job } from '../../src/jobs/job.ts';
import { PayloadFolder } from '../../src/jobs/payloads.ts';
import type { JobService, KeyLoading } from '../../src/jobs/service.ts';
import type { JobQuery } from '../../src/jobs/store.ts';
import { errorDescriber } from '../../src/rpc/errors.ts';
import { Cuzk, type CuzkConfig } from '../../src/rpc/grpc/cuzk.ts';
import type { WireThread } from '../../src/rpc/grpc/face.ts';
import type { ToWire } from '../../src/rpc/grpc/wire.ts';
import { type WireOptions, WireServer } from '../../src/rpc/grpc/wire-server.ts';
import { EventStream } from '../../src/telemetry/events.ts';
import { KEY } from './fake-service.ts';
import { HandJobs } from './lotus-app.ts';
import { temporaryFolder } from './temporary-folder.ts';

export const PROTO = fileURLToPath(new URL('../../openapi/cuzk.proto', import.meta.url));

// biome-ignore lint/suspicious/noExplicitAny: messages as the wire's definition has them.
export type Answer = any;

export interface GrpcClient {
  /** Rejects with grpc-js's `code` and `details`. */
  call(method: string, request?: object, deadlineMs?: number): Promise<Answer>;
  close(): void;
}

/** As Curio's: no TLS, no token, messages up to 256 MiB; by the definition alone. */
export function grpcClient(address: string): GrpcClient {
  const options = { longs: String, enums: Number, keepCase: true, defaults: true };
  const root = loadPackageDefinition(loadSync(PROTO, options as never));
  // biome-ignore lint/suspicious/noExplicitAny: made from the definition.
  const { ProvingEngine } = (root as any).cuzk.v1;
  const client = new ProvingEngine(address, credentials.createInsecure(), {
    'grpc.max_receive_message_length': 2 ** 28,
    'grpc.max_send_message_length': -1,
  });
  return {
    call: (method, request = {}, deadlineMs) =>
      new Promise((resolve, reject) => {
        const deadline = deadlineMs === undefined ? {} : { deadline: Date.now() + deadlineMs };
        client[method](request, deadline, (error: Error | null, response: Answer) =>
          error === null ? resolve(response) : reject(error),
        );
      }),
    close: () => client.close(),
  };
}

/** The thread that speaks gRPC, in this one. */
class ThreadInThis extends EventEmitter {
  readonly #port = new EventEmitter();

  constructor(options: WireOptions) {
    super();
    const port = {
      postMessage: (message: object) =>
        void setImmediate(() => this.emit('message', structuredClone(message))),
      on: (event: 'message', listener: (message: ToWire) => void) => this.#port.on(event, listener),
    };
    void new WireServer(options, port).listen();
  }

  postMessage(message: ToWire): void {
    setImmediate(() => this.#port.emit('message', structuredClone(message)));
  }

  /** Ends as a thread does that has run out of memory. */
  crash(): void {
    this.#port.emit('message', { closeWithinMs: 0 });
    this.once('message', () => {
      this.emit('error', new Error('out of memory'));
      this.emit('exit', 1);
    });
  }

  async terminate(): Promise<number> {
    return 0;
  }
}

/** Jobs that a test settles by hand, and keys that it has said to be loaded. */
export class GrpcJobs extends HandJobs implements KeyLoading {
  readonly loaded = new Set<string>();
  unloadRefusal: unknown;

  list({ state }: JobQuery): readonly Job[] {
    return this.all.filter((job) => state === undefined || job.state === state).reverse();
  }

  events() {
    return [];
  }

  queue() {
    return { depth: this.list({ limit: 1, state: 'queued' }).length, ageSeconds: 0 };
  }

  async preload(kind: string, sectorSize: string): Promise<boolean> {
    const key = `${kind} ${sectorSize}`;
    const wasLoaded = this.loaded.has(key);
    this.loaded.add(key);
    return wasLoaded;
  }

  async unload(kind: string, sectorSize: string): Promise<number> {
    if (this.unloadRefusal !== undefined) throw this.unloadRefusal;
    return this.loaded.delete(`${kind} ${sectorSize}`) ? 44 : 0;
  }

  override async submit(...args: Parameters<HandJobs['submit']>): Promise<Job> {
    const job = await super.submit(...args);
    for (const wake of [...this.submitted]) wake();
    return job;
  }

  /** Wakes of `until`. */
  readonly submitted = new Set<() => void>();

  /** Resolves once so many jobs have been submitted. */
  async until(count: number): Promise<void> {
    while (this.all.length < count) {
      await new Promise<void>((resolve) => this.submitted.add(resolve));
    }
  }
}

export interface GrpcService {
  readonly jobs: GrpcJobs;
  readonly payloads: PayloadFolder;
  readonly events: EventStream;
  readonly folder: string;
  /** Where gRPC is spoken, and where the status is. */
  readonly address: string;
  readonly statusUrl: string;
  readonly warned: string[];
  readonly client: GrpcClient;
  /** Of its thread. */
  crash(): void;
  stop(): Promise<void>;
}

export interface GrpcServiceOptions extends Partial<CuzkConfig> {
  readonly payloadsMaxBytes?: number;
  readonly jobs?: GrpcJobs;
}

/** cuzk's wire over jobs of a test, with its real thread and real files. */
export async function grpcService(options: GrpcServiceOptions = {}): Promise<GrpcService> {
  const folder = temporaryFolder();
  const { jobs = new GrpcJobs(), payloadsMaxBytes = 2 ** 40, ...config } = options;
  const payloadFolder = join(folder, 'payloads');
  const payloads = new PayloadFolder({
    ...{ folder: payloadFolder, bytesMax: payloadsMaxBytes },
    inUse: () => true,
  });
  const events = new EventStream();
  const [told, warned]: [string[], string[]] = [[], []];
  let thread: ThreadInThis | undefined;
  const cuzk = new Cuzk(
    { grpcListen: '127.0.0.1:0', grpcPublic: false, statusListen: '127.0.0.1:0', ...config },
    {
      ...{ jobs: jobs as unknown as JobService & KeyLoading, payloads, payloadFolder, events },
      keys: { list: async () => [{ ...KEY, circuit: 'porep 32GiB' }], resolve: async () => KEY },
      ...{ version: '0', shutdown: new AbortController().signal, protoPath: PROTO },
      createThread: (wire) => {
        thread = new ThreadInThis(wire);
        return thread as unknown as WireThread;
      },
      describeError: errorDescriber(),
      info: (message) => void told.push(message),
      warn: (message) => void warned.push(message),
    },
  );
  await cuzk.start();
  const after = (word: string) =>
    told.find((line) => line.startsWith(word))?.slice(word.length) ?? '';
  const address = after('gRPC at ');
  const client = grpcClient(address);
  return {
    ...{ jobs, payloads, events, folder, address, warned, client },
    statusUrl: after('status at '),
    crash: () => thread?.crash(),
    async stop() {
      client.close();
      // Nobody waits for a proof then.
      for (const { id } of jobs.all) jobs.cancel(id);
      await cuzk.stop();
      await rm(folder, { recursive: true });
    },
  };
}
