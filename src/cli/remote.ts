import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { type Client, connect } from '../client/client.ts';
import { ProverError } from '../core/errors.ts';
import { systemReason } from '../core/source.ts';
import type { VerifyOutcome } from '../pipeline/pipeline.ts';
import type { Timeline } from '../trace/timeline.ts';
import type { Timings } from '../trace/timings.ts';
import type { CallHooks, ProveInput, ProveReport, RemoteServer, VerifyInput } from './wiring.ts';

/** A running service as a prover. */
export class RemoteProver implements RemoteServer {
  readonly #client: Client;

  constructor(url: string, token: string | undefined) {
    this.#client = connect(url, token === undefined ? {} : { token });
  }

  async prove({ key, witness, backend }: ProveInput, hooks: CallHooks): Promise<ProveReport> {
    if (!('path' in witness)) {
      throw new ProverError('ERR_PARAMS', {
        subject: 'witness',
        expected: 'a .wtns file for a server',
        actual: basename(witness.inputPath),
      });
    }
    const { signal, onProgress } = hooks;
    const submitted = await this.#client.submit(
      { key, witness: await blobOf(witness.path), ...(backend && { backend }) },
      signal,
    );
    const { job_id: id } = submitted;
    try {
      const job = await this.#client.settled(id, { signal, ...(onProgress && { onProgress }) });
      if (job.kind !== 'circom') throw new ProverError('ERR_INTERNAL', { reason: 'other kind' });
      return {
        jobId: id,
        proof: job.proof as ProveReport['proof'],
        public: job.public,
        keyDigest: job.key_digest,
        backend: job.backend as ProveReport['backend'],
        device: job.device ?? '',
        attempts: job.attempts ?? 1,
        ...(job.fallback_reason !== undefined && { fallbackReason: job.fallback_reason }),
        verified: true,
        timeline: await this.timeline(id),
        timings: (job.timings ?? {}) as Timings,
      };
    } catch (thrown) {
      if (signal.aborted) await this.#client.cancel(id).catch(() => {});
      throw thrown;
    }
  }

  verify(input: VerifyInput, { signal }: CallHooks): Promise<VerifyOutcome> {
    const { verificationKey, ...rest } = input;
    const params =
      verificationKey === undefined ? rest : { ...rest, verification_key: verificationKey };
    return this.#client.verify(params, signal);
  }

  timeline(jobId: string): Promise<Timeline> {
    return this.#client.timeline(jobId) as Promise<Timeline>;
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

async function blobOf(path: string): Promise<Blob> {
  return openAsBlob(path).catch((cause) => {
    throw new ProverError('ERR_FILE', { path, reason: systemReason(cause) }, cause);
  });
}
