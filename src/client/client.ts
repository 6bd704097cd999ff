import { openAsBlob } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { ERRORS, type ErrorCode, fromErrorRecord, ProverError } from '../core/errors.ts';

/** How often a job is looked at while it runs. */
const POLL_MS = 250;

/** A job as the service shows it; `Job` of the OpenAPI document. */
export interface RemoteJob {
  readonly job_id: string;
  readonly state: 'queued' | 'running' | 'completed' | 'failed' | 'cancelled';
  readonly progress: number;
  readonly [field: string]: unknown;
}

/** Talks to a running service. Every method throws the service's own errors, or ERR_UNREACHABLE. */
export class Client {
  readonly #base: URL;
  readonly #authorization: Record<string, string>;

  /** @param url for example `http://127.0.0.1:9830`. @throws ERR_PARAMS */
  constructor(url: string, token?: string) {
    if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
      const expected = 'a URL such as http://127.0.0.1:9830';
      throw new ProverError('ERR_PARAMS', { subject: 'server', expected, actual: url });
    }
    this.#base = new URL(url);
    this.#authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
  }

  /** Streams a file to the service. @returns its SHA-256 */
  async upload(path: string, signal?: AbortSignal): Promise<string> {
    const body = await openAsBlob(path).catch((cause: NodeJS.ErrnoException) => {
      throw new ProverError('ERR_FILE', { path, reason: cause.code ?? 'cannot be read' }, cause);
    });
    const headers = { 'content-type': 'application/octet-stream' };
    const stored = await this.#send<{ sha256: string }>('v1/payloads', { body, headers, signal });
    return stored.sha256;
  }

  prove(params: object, signal?: AbortSignal): Promise<RemoteJob> {
    return this.#post('v1/prove', params, signal);
  }

  verify(
    params: object,
    signal?: AbortSignal,
  ): Promise<{ readonly valid: boolean; readonly reason?: string }> {
    return this.#post('v1/verify', params, signal);
  }

  job(id: string, signal?: AbortSignal): Promise<RemoteJob> {
    return this.#send(`v1/jobs/${encodeURIComponent(id)}`, { signal });
  }

  timeline<T>(id: string, signal?: AbortSignal): Promise<T> {
    return this.#send(`v1/jobs/${encodeURIComponent(id)}/timeline`, { signal });
  }

  cancel(id: string): Promise<RemoteJob> {
    return this.#post(`v1/jobs/${encodeURIComponent(id)}/cancel`, {});
  }

  /** Looks at a job until it has settled. @throws the job's own error */
  async settled(
    id: string,
    onProgress: (share: number) => void,
    signal?: AbortSignal,
  ): Promise<RemoteJob> {
    for (;;) {
      const job = await this.job(id, signal);
      onProgress(job.progress);
      if (job.state === 'completed') return job;
      if (job.state === 'failed') throw errorOf(job.error, 'a failed job without a reason');
      if (job.state === 'cancelled') throw new ProverError('ERR_CANCELLED', { jobId: id });
      await setTimeout(POLL_MS, undefined, signal === undefined ? {} : { signal });
    }
  }

  #post<T>(path: string, params: object, signal?: AbortSignal): Promise<T> {
    const headers = { 'content-type': 'application/json' };
    return this.#send(path, { body: JSON.stringify(params), headers, signal });
  }

  /** POST where there is a body, else GET. */
  async #send<T>(
    path: string,
    options: {
      readonly body?: string | Blob;
      readonly headers?: Record<string, string>;
      readonly signal?: AbortSignal | undefined;
    },
  ): Promise<T> {
    const { body, headers = {}, signal = null } = options;
    const method = body === undefined ? 'GET' : 'POST';
    let response: Response;
    let answer: unknown;
    try {
      response = await fetch(new URL(path, this.#base), {
        method,
        headers: { ...this.#authorization, ...headers },
        signal,
        body: body ?? null,
      });
      answer = await response.json();
    } catch (cause) {
      if (signal?.aborted) throw new ProverError('ERR_CANCELLED', { jobId: 'request' }, cause);
      throw new ProverError(
        'ERR_UNREACHABLE',
        { url: this.#base.origin, reason: why(cause) },
        cause,
      );
    }
    if (response.ok) return answer as T;
    throw errorOf((answer as { error?: unknown }).error, `HTTP status ${response.status}`);
  }
}

function errorOf(value: unknown, otherwise: string): ProverError {
  const { code, data } = (value ?? {}) as { code?: string; data?: Record<string, string | number> };
  if (code === undefined || !Object.hasOwn(ERRORS, code)) {
    return new ProverError('ERR_INTERNAL', { reason: otherwise });
  }
  return fromErrorRecord({ code: code as ErrorCode, data: data ?? {} });
}

function why(cause: unknown): string {
  const inner = (cause as { cause?: { code?: string } }).cause?.code;
  if (inner === 'ECONNREFUSED') return 'expected a running service, got a refused connection';
  return inner ?? 'expected an answer in JSON, got something else';
}
