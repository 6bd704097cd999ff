import { chmod, lstat, mkdir, rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname } from 'node:path';
import {
  loadPackageDefinition,
  logVerbosity,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServiceClientConstructor,
  type sendUnaryData,
  setLogVerbosity,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { type ProverError, toProverError } from '../../core/errors.ts';
import { systemReason } from '../../core/source.ts';
import { type PartialPayload, removePartials, writePartial } from '../../jobs/payloads.ts';
import { Intake } from './intake.ts';
import { failedProof, grpcCode, isFinal } from './statuses.ts';
import { readSubmit } from './submitted.ts';
import {
  type EngineMethods,
  type FromWire,
  GrpcError,
  MESSAGE_BYTES_MAX,
  type MethodName,
  STATUS,
  type StoredSubmit,
  type SubmitProofRequest,
  type ToWire,
} from './wire.ts';

/** Large messages in memory at a time, each of them twice while grpc-js joins its pieces. */
const MESSAGES_IN_MEMORY_MAX = 2;
/** Calls of a connection at a time. */
const STREAMS_MAX = 1000;
/** Of what is said of a call that failed, of which each character may take nine. */
const DETAILS_LENGTH_MAX = 2000;
/** Files written at once for a request of many vanilla proofs. */
const FILES_AT_ONCE = 8;

export interface WireOptions {
  /** Of `openapi/cuzk.proto`. */
  readonly protoPath: string;
  /** `HOST:PORT`, or `unix:///PATH`. */
  readonly address: string;
  /** Of the payload store. */
  readonly payloadFolder: string;
}

/** The other thread. */
export interface Port {
  postMessage(message: FromWire): void;
  on(event: 'message', listener: (message: ToWire) => void): unknown;
}

type Call = ServerUnaryCall<unknown, unknown>;
type Answer = sendUnaryData<unknown>;

interface Asked {
  resolve(response: unknown): void;
  reject(error: GrpcError): void;
}

/**
 * Speaks gRPC: a thread of its own, since grpc-js joins a whole message before anyone sees it. What
 * is large goes to files of the payload store here; the other thread gets their digests.
 */
export class WireServer {
  readonly #options: WireOptions;
  readonly #port: Port;
  readonly #intake = new Intake(MESSAGES_IN_MEMORY_MAX);
  readonly #asked = new Map<number, Asked>();
  readonly #server: Server;
  #nextId = 1;

  constructor(options: WireOptions, port: Port) {
    // What goes wrong is told to the other thread, which has the log.
    setLogVerbosity(logVerbosity.NONE);
    this.#options = options;
    this.#port = port;
    this.#server = new Server({
      'grpc.max_receive_message_length': MESSAGE_BYTES_MAX,
      'grpc.max_send_message_length': MESSAGE_BYTES_MAX,
      'grpc.max_concurrent_streams': STREAMS_MAX,
      interceptors: [this.#intake.interceptor],
    });
    this.#server.addService(serviceOf(options.protoPath), {
      SubmitProof: this.#handler('SubmitProof', (call) =>
        this.#store(call, call.request as SubmitProofRequest),
      ),
      Prove: (call: Call, answer: Answer) => void this.#prove(call, answer),
      AwaitProof: this.#handler('AwaitProof'),
      CancelProof: this.#handler('CancelProof'),
      GetStatus: this.#handler('GetStatus'),
      GetMetrics: this.#handler('GetMetrics'),
      PreloadSRS: this.#handler('PreloadSRS'),
      EvictSRS: this.#handler('EvictSRS'),
    });
    port.on('message', (message) => this.#receive(message));
  }

  async listen(): Promise<void> {
    const { address } = this.#options;
    try {
      const socket = socketPath(address);
      if (socket !== undefined) await freeSocket(socket);
      const port = await new Promise<number>((resolve, reject) => {
        const credentials = ServerCredentials.createInsecure();
        this.#server.bindAsync(address, credentials, (error, bound) =>
          error === null ? resolve(bound) : reject(error),
        );
      });
      if (socket !== undefined) await chmod(socket, 0o660);
      const listening = socket === undefined ? address.replace(/\d+$/, String(port)) : address;
      this.#port.postMessage({ listening });
    } catch (thrown) {
      this.#port.postMessage({ failed: reasonOf(thrown) });
    }
  }

  #receive(message: ToWire): void {
    if ('closeWithinMs' in message) {
      const late = setTimeout(() => this.#server.forceShutdown(), message.closeWithinMs);
      this.#server.tryShutdown(() => {
        clearTimeout(late);
        this.#port.postMessage({ closed: true });
      });
      return;
    }
    const asked = this.#asked.get(message.id);
    this.#asked.delete(message.id);
    if ('response' in message) asked?.resolve(message.response);
    else asked?.reject(new GrpcError(message.code, message.message));
  }

  /** @param prepare makes what the engine is asked of what the client has sent */
  #handler<M extends MethodName>(
    method: M,
    prepare: (call: Call) => Promise<EngineMethods[M]['request']> = async ({ request }) =>
      request as EngineMethods[M]['request'],
  ) {
    return async (call: Call, answer: Answer): Promise<void> => {
      try {
        const request = await prepare(call);
        answer(null, await this.#ask(method, request, call));
      } catch (thrown) {
        answer(statusOf(thrown));
      }
    };
  }

  /** What cannot be proved is a proof that failed, not a call that did. */
  async #prove(call: Call, answer: Answer): Promise<void> {
    const { submit } = call.request as { submit: SubmitProofRequest | null };
    await this.#handler('Prove', async () => {
      if (submit !== null) return await this.#store(call, submit);
      throw new GrpcError(STATUS.invalidArgument, 'missing submit field');
    })(call, (error, response) => {
      const failure = (error as { refused?: ProverError } | null)?.refused;
      if (failure === undefined || !isFinal(failure)) return answer(error, response);
      answer(null, { result: failedProof(submit?.request_id ?? '', failure.message) });
    });
  }

  #ask<M extends MethodName>(
    method: M,
    request: EngineMethods[M]['request'],
    call: Call,
  ): Promise<EngineMethods[M]['response']> {
    const id = this.#nextId++;
    const leave = () => {
      if (this.#asked.has(id)) this.#port.postMessage({ gone: id });
    };
    return new Promise((resolve, reject) => {
      const done = resolve as (response: unknown) => void;
      this.#asked.set(id, { resolve: done, reject });
      this.#port.postMessage({ id, method, request });
      call.on('cancelled', leave);
      if (call.cancelled) leave();
    });
  }

  async #store(call: Call, submit: SubmitProofRequest): Promise<StoredSubmit> {
    const { payloadFolder } = this.#options;
    const written: PartialPayload[] = [];
    try {
      const { statement, vanilla, ...rest } = await readSubmit(submit);
      const bytes = [statement, ...vanilla];
      const files: PartialPayload[] = [];
      let next = 0;
      const writer = async (): Promise<void> => {
        while (next < bytes.length) {
          const i = next++;
          files[i] = await writePartial(payloadFolder, bytes[i] as Uint8Array);
          written.push(files[i]);
        }
      };
      const ends = await Promise.allSettled(Array.from({ length: FILES_AT_ONCE }, writer));
      const failed = ends.find((end) => end.status === 'rejected');
      if (failed !== undefined) throw failed.reason;
      const [first, ...others] = files as [PartialPayload, ...PartialPayload[]];
      return { ...rest, statement: first, vanilla: others };
    } catch (thrown) {
      await removePartials(payloadFolder, written);
      throw thrown;
    } finally {
      submit.vanilla_proof = new Uint8Array(0);
      submit.vanilla_proofs = [];
      dropPieces(call);
      this.#intake.left(call);
    }
  }
}

function serviceOf(protoPath: string) {
  const definition = loadSync(protoPath, {
    ...{ longs: String, enums: Number, bytes: Buffer, keepCase: true, defaults: true },
  } as never);
  const root = loadPackageDefinition(definition) as unknown as {
    readonly cuzk: { readonly v1: { readonly ProvingEngine: ServiceClientConstructor } };
  };
  return root.cuzk.v1.ProvingEngine.service;
}

/** How a call ends that fails. */
function statusOf(thrown: unknown) {
  if (thrown instanceof GrpcError) return { code: thrown.code, details: clip(thrown.message) };
  const refused = toProverError(thrown);
  return { code: grpcCode(refused), details: clip(refused.message), refused };
}

/**
 * A message may quote its caller, and is sent as a header: one of 64 KB ends the connection, and
 * half of a surrogate pair, which grpc-js cannot encode, would end this thread.
 */
function clip(message: string): string {
  const isLong = message.length > DETAILS_LENGTH_MAX;
  const text = isLong ? `${message.slice(0, DETAILS_LENGTH_MAX)}…` : message;
  return Buffer.from(text).toString();
}

/**
 * grpc-js 1.14 keeps the pieces of a message until the next one of its call, which never comes:
 * that is, for as long as the proof takes.
 */
function dropPieces(call: Call): void {
  let inner = (call as unknown as { call?: Inner }).call;
  while (inner?.nextCall !== undefined) inner = inner.nextCall;
  if (inner?.decoder?.readPartialMessage !== undefined) inner.decoder.readPartialMessage = [];
}

interface Inner {
  readonly nextCall?: Inner;
  readonly decoder?: { readPartialMessage?: readonly Uint8Array[] };
}

/** grpc-js tells the system's code in its text only. */
function reasonOf(thrown: unknown): string {
  const code = /\bE[A-Z]{3,}\b/.exec((thrown as Error).message)?.[0];
  return code ?? systemReason(thrown);
}

/** The path of `unix:///path` or `unix:/path`. */
function socketPath(address: string): string | undefined {
  return /^unix:(?:\/\/)?(\/.*)$/.exec(address)?.[1];
}

/**
 * Makes the socket's folder, and removes what a server has left that runs no more. Any other file
 * stays: the system refuses a connection to it, too.
 */
async function freeSocket(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o750 });
  const isSocket = await lstat(path).then(
    (info) => info.isSocket(),
    () => false,
  );
  if (!isSocket) return;
  const isStale = await new Promise<boolean>((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code === 'ECONNREFUSED'));
  });
  if (isStale) await rm(path, { force: true });
}
