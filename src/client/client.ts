import { EventSourceParserStream } from 'eventsource-parser/stream';
import { ERRORS, type ErrorCode, fromErrorRecord, ProverError } from '../core/errors.ts';
import { fromWireNames } from '../core/wire-names.ts';
import type {
  CircomJob,
  FilecoinJob,
  Job,
  JobList,
  KeyList,
  ProveParams,
  ServiceStatus,
  Timeline,
  VerifyResult,
} from './types.ts';

export { ProverError } from '../core/errors.ts';
export type * from './types.ts';

/** How often a job is looked at while it runs. */
const POLL_MS = 250;

export interface ConnectOptions {
  /** Bearer token, where the service has tokens. */
  readonly token?: string;
}

/** Bytes, or the SHA-256 of an upload. */
export type Upload = Blob | Uint8Array<ArrayBuffer> | { readonly sha256: string };

type Common = 'backend' | 'priority' | 'deadline' | 'strict' | 'idempotency_key';

/** A circom circuit: key and witness, a `.wtns` file. */
export interface CircomRequest extends Pick<ProveParams, Common> {
  readonly kind?: 'circom';
  readonly key: string;
  readonly witness: Upload;
}

/** A proof of Filecoin: what is proved, and the vanilla proofs. */
export interface FilecoinRequest
  extends Pick<ProveParams, Common | 'miner' | 'sector_number' | 'partition'> {
  readonly kind: FilecoinJob['kind'];
  /** Default: the stored key that fits. */
  readonly key?: string;
  /** What a statement file says. A PoRep needs none where `miner` and `sector_number` are given. */
  readonly statement?: object;
  readonly vanilla: readonly Upload[];
}

export type ProveRequest = CircomRequest | FilecoinRequest;

/**
 * snarkjs's JSON, which the service checks, with the key by name, or its verification key. Or a
 * statement and its proof in hex, with the key by name, or that which fits.
 */
export type VerifyRequest =
  | {
      readonly key?: string;
      readonly verification_key?: unknown;
      readonly proof: unknown;
      readonly public: unknown;
    }
  | { readonly key?: string; readonly statement: object; readonly proof: string };

type Always = 'proof' | 'key_digest' | 'verified';
export type CompletedCircomJob = CircomJob & Required<Pick<CircomJob, Always | 'public'>>;
export type CompletedFilecoinJob = FilecoinJob & Required<Pick<FilecoinJob, Always | 'partitions'>>;
export type CompletedJob = CompletedCircomJob | CompletedFilecoinJob;

export interface WaitOptions {
  /** Stops the waiting; the job goes on. */
  readonly signal?: AbortSignal;
  /** Hears the share that is done, 0 to 1. */
  onProgress?(share: number): void;
}

export interface ServiceEvent {
  /** To resume after; absent on `progress`. */
  readonly id?: string;
  /** Name of the event, or `progress`. */
  readonly event: string;
  readonly data: unknown;
}

/**
 * A client of a running service, for Node and browsers.
 * @param url for example `http://127.0.0.1:9830`
 * @throws ERR_PARAMS for anything else
 */
export function connect(url: string, options: ConnectOptions = {}): Client {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    const expected = 'a URL such as http://127.0.0.1:9830';
    throw new ProverError('ERR_PARAMS', { subject: 'server', expected, actual: url });
  }
  return new Client(new URL(url), options);
}

interface Send {
  readonly method?: 'GET' | 'POST';
  readonly body?: string | Blob | Uint8Array<ArrayBuffer>;
  readonly contentType?: string;
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Every method throws the service's own errors (`ProverError`), or ERR_UNREACHABLE. */
export class Client {
  readonly #base: URL;
  readonly #headers: Readonly<Record<string, string>>;

  constructor(base: URL, { token }: ConnectOptions) {
    this.#base = base;
    this.#headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  }

  /** Proves and waits: the job with its verified proof. @throws the job's own error */
  prove(request: CircomRequest, options?: WaitOptions): Promise<CompletedCircomJob>;
  prove(request: FilecoinRequest, options?: WaitOptions): Promise<CompletedFilecoinJob>;
  async prove(request: ProveRequest, options: WaitOptions = {}): Promise<CompletedJob> {
    const { job_id: id } = await this.submit(request, options.signal);
    return this.settled(id, options);
  }

  /** Uploads what has to be, and submits the job. */
  async submit(request: ProveRequest, signal?: AbortSignal): Promise<Job> {
    const stored = async (upload: Upload) => ({
      sha256: 'sha256' in upload ? upload.sha256 : await this.upload(upload, signal),
    });
    if (!('vanilla' in request)) {
      const { witness, ...rest } = request;
      const payload = await stored(witness);
      return this.#post('v1/prove', { kind: 'circom', ...rest, payload }, signal);
    }
    const vanilla: { readonly sha256: string }[] = [];
    for (const file of request.vanilla) vanilla.push(await stored(file));
    return this.#post('v1/prove', { ...request, vanilla }, signal);
  }

  /** @returns SHA-256 of the bytes, to name them by */
  async upload(bytes: Blob | Uint8Array<ArrayBuffer>, signal?: AbortSignal): Promise<string> {
    const contentType = 'application/octet-stream';
    const send = { method: 'POST', body: bytes, contentType, signal } as const;
    return (await this.#json<{ sha256: string }>('v1/payloads', send)).sha256;
  }

  verify(params: VerifyRequest, signal?: AbortSignal): Promise<VerifyResult> {
    return this.#post('v1/verify', params, signal);
  }

  job(id: string, signal?: AbortSignal): Promise<Job> {
    return this.#json(`v1/jobs/${encodeURIComponent(id)}`, { signal });
  }

  /** Newest first. @param query state, key, since, limit, cursor */
  jobs(query: Readonly<Record<string, string>> = {}, signal?: AbortSignal): Promise<JobList> {
    return this.#json(`v1/jobs?${new URLSearchParams(query)}`, { signal });
  }

  cancel(id: string): Promise<Job> {
    return this.#post(`v1/jobs/${encodeURIComponent(id)}/cancel`, {});
  }

  timeline(id: string, signal?: AbortSignal): Promise<Timeline> {
    return this.#json(`v1/jobs/${encodeURIComponent(id)}/timeline`, { signal });
  }

  keys(signal?: AbortSignal): Promise<KeyList> {
    return this.#json('v1/keys', { signal });
  }

  status(signal?: AbortSignal): Promise<ServiceStatus> {
    return this.#json('status', { signal });
  }

  /** Looks at a job until it has settled. @throws the job's own error */
  async settled(id: string, { signal, onProgress }: WaitOptions = {}): Promise<CompletedJob> {
    for (;;) {
      const job = await this.job(id, signal);
      onProgress?.(job.progress);
      if (job.state === 'completed') return job as CompletedJob;
      if (job.state === 'failed') throw errorOf(job.error, 'a failed job without a reason');
      if (job.state === 'cancelled') throw new ProverError('ERR_CANCELLED', { jobId: id });
      await pause(POLL_MS, signal);
    }
  }

  /** What happens, as it happens: to one job until it settles, or to all. */
  async *events(
    options: { jobId?: string; lastEventId?: string; signal?: AbortSignal } = {},
  ): AsyncGenerator<ServiceEvent> {
    const { jobId, lastEventId, signal } = options;
    const path = jobId === undefined ? 'v1/events' : `v1/jobs/${encodeURIComponent(jobId)}/events`;
    const headers = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
    const response = await this.#send(path, { signal, headers });
    if (response.body === null) return;
    const text = response.body.pipeThrough(new TextDecoderStream() as TransformStream);
    const reader = text.pipeThrough(new EventSourceParserStream()).getReader();
    try {
      for (;;) {
        const { value, done } = await reader.read();
        if (done) return;
        const { id, event = 'message', data } = value;
        yield { event, data: JSON.parse(data), ...(id !== undefined && { id }) };
      }
    } finally {
      await reader.cancel().catch(() => {});
    }
  }

  #post<T>(path: string, params: object, signal?: AbortSignal): Promise<T> {
    const body = JSON.stringify(params);
    return this.#json(path, { method: 'POST', body, contentType: 'application/json', signal });
  }

  async #json<T>(path: string, send: Send): Promise<T> {
    const response = await this.#send(path, send);
    return (await response.json().catch((cause) => this.#unreachable(cause, send))) as T;
  }

  async #send(path: string, send: Send): Promise<Response> {
    const { method = 'GET', body = null, contentType, signal = null, headers } = send;
    const type = contentType === undefined ? {} : { 'content-type': contentType };
    const response = await fetch(new URL(path, this.#base), {
      method,
      body,
      signal,
      headers: { ...this.#headers, ...type, ...headers },
    }).catch((cause) => this.#unreachable(cause, send));
    if (response.ok) return response;
    const { error } = (await response.json().catch(() => ({}))) as { error?: unknown };
    throw errorOf(error, `HTTP status ${response.status}`);
  }

  #unreachable(cause: unknown, { signal }: Send): never {
    if (signal?.aborted) throw new ProverError('ERR_CANCELLED', { jobId: 'request' }, cause);
    const data = { url: this.#base.origin, reason: reasonOf(cause) };
    throw new ProverError('ERR_UNREACHABLE', data, cause);
  }
}

function errorOf(value: unknown, otherwise: string): ProverError {
  const { code, data } = (value ?? {}) as { code?: string; data?: Record<string, string | number> };
  if (code === undefined || !Object.hasOwn(ERRORS, code)) {
    return new ProverError('ERR_INTERNAL', { reason: otherwise });
  }
  return fromErrorRecord({ code: code as ErrorCode, data: fromWireNames(data ?? {}) });
}

function reasonOf(cause: unknown): string {
  const inner = (cause as { cause?: { code?: string } }).cause?.code;
  if (inner === 'ECONNREFUSED') return 'expected a running service, got a refused connection';
  return inner ?? 'expected an answer in JSON, got something else';
}

function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(new ProverError('ERR_CANCELLED', { jobId: 'waiting' }));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', abort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
