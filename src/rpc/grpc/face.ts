import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { ProverError } from '../../core/errors.ts';
import type { PublicError } from '../errors.ts';
import { isLoopback } from '../transport.ts';
import { Turns } from '../turns.ts';
import type { CuzkEngine } from './engine.ts';
import { grpcCode } from './statuses.ts';
import { type FromWire, GrpcError, type ToWire } from './wire.ts';
import type { WireOptions } from './wire-server.ts';

/** Pause before the thread is started again after it has ended by itself. */
const RESTART_MS = 250;
/** Calls that are left once the jobs have been closed get so long to be answered. */
const CLOSE_MS = 2000;

/** Calls that are begun before this process does what else it has to do. */
const CALLS_AT_ONCE = 8;

/** A thread that speaks gRPC (`worker.ts`). */
export type WireThread = Pick<Worker, 'on' | 'once' | 'postMessage' | 'terminate'>;

export interface GrpcFaceOptions extends WireOptions {
  createThread(options: WireOptions): WireThread;
  /** It may be spoken beyond this machine. */
  readonly isPublic: boolean;
  readonly engine: CuzkEngine;
  describeError(thrown: unknown): PublicError;
  warn(message: string): void;
}

/** Answers what the thread that speaks gRPC asks. */
export class GrpcFace {
  readonly #options: GrpcFaceOptions;
  readonly #calls = new Map<number, AbortController>();
  /** A port hands on all messages that it has at once. */
  readonly #turns = new Turns(CALLS_AT_ONCE);
  #worker: WireThread | undefined;
  #address: string;
  #closing = false;

  constructor(options: GrpcFaceOptions) {
    this.#options = options;
    this.#address = options.address;
  }

  /** @returns the address. @throws ERR_PARAMS for one beyond this machine, ERR_LISTEN */
  async start(): Promise<string> {
    const { address, isPublic } = this.#options;
    if (!isPublic && !address.startsWith('unix:') && !isLoopback(address)) {
      throw new ProverError('ERR_PARAMS', {
        subject: 'grpc_listen',
        expected: 'an address of this machine, or grpc_public set, since gRPC has no tokens',
        actual: address,
      });
    }
    // A port that was chosen freely stays the same when the thread is started again.
    this.#address = await this.#run();
    return this.#address;
  }

  async stop(): Promise<void> {
    this.#closing = true;
    const worker = this.#worker;
    if (worker === undefined) return;
    const closed = new Promise<void>((resolve) => {
      worker.on('message', (message: FromWire) => 'closed' in message && resolve());
      worker.once('exit', () => resolve());
    });
    worker.postMessage({ closeWithinMs: CLOSE_MS } satisfies ToWire);
    await closed;
    await worker.terminate();
  }

  /** Resolves once the thread listens. */
  #run(): Promise<string> {
    const { createThread, protoPath, payloadFolder } = this.#options;
    const address = this.#address;
    const worker = createThread({ protoPath, address, payloadFolder });
    this.#worker = worker;
    return new Promise((resolve, reject) => {
      const fail = (reason: string) => {
        reject(new ProverError('ERR_LISTEN', { address, reason }));
        void worker.terminate();
      };
      let isListening = false;
      worker.on('error', ({ message }) => {
        if (!isListening) return fail(message);
        this.#options.warn(`gRPC: its thread has ended and starts again: ${message}`);
      });
      worker.on('exit', () => isListening && void this.#restart());
      worker.on('message', (message: FromWire) => {
        if ('failed' in message) fail(message.failed);
        else if ('listening' in message) {
          isListening = true;
          resolve(message.listening);
        } else if ('gone' in message) this.#calls.get(message.gone)?.abort();
        else if ('id' in message) void this.#answer(worker, message);
      });
    });
  }

  async #restart(): Promise<void> {
    for (const call of this.#calls.values()) call.abort();
    while (!this.#closing) {
      await sleep(RESTART_MS);
      try {
        if (!this.#closing) await this.#run();
        return;
      } catch (thrown) {
        this.#options.warn(`gRPC: ${(thrown as Error).message}`);
      }
    }
  }

  async #answer(
    worker: WireThread,
    { id, method, request }: Extract<FromWire, { id: number }>,
  ): Promise<void> {
    const controller = new AbortController();
    this.#calls.set(id, controller);
    const handle = this.#options.engine.methods[method] as Handler;
    try {
      await this.#turns.take();
      const response = await handle(request, controller.signal);
      worker.postMessage({ id, response } satisfies ToWire);
    } catch (thrown) {
      worker.postMessage({ id, ...this.#statusOf(thrown) } satisfies ToWire);
    } finally {
      this.#calls.delete(id);
    }
  }

  #statusOf(thrown: unknown): { readonly code: number; readonly message: string } {
    if (thrown instanceof GrpcError) return { code: thrown.code, message: thrown.message };
    const error = this.#options.describeError(thrown);
    return { code: grpcCode(error), message: error.message };
  }
}

type Handler = (request: unknown, signal: AbortSignal) => Promise<unknown>;
