import { basename } from 'node:path';
import { Client } from '../client/client.ts';
import { ProverError } from '../core/errors.ts';
import type { VerifyOutcome } from '../pipeline/pipeline.ts';
import type { Timeline } from '../trace/timeline.ts';
import type { Timings } from '../trace/timings.ts';
import type { CallHooks, ProveInput, ProveReport, RemoteServer, VerifyInput } from './wiring.ts';

/** A running service as a prover. */
export class RemoteProver implements RemoteServer {
  readonly #client: Client;

  constructor(url: string, token: string | undefined) {
    this.#client = new Client(url, token);
  }

  async prove({ key, witness, backend }: ProveInput, hooks: CallHooks): Promise<ProveReport> {
    if (!('path' in witness)) {
      throw new ProverError('ERR_PARAMS', {
        subject: 'witness',
        expected: 'a .wtns file for a server',
        actual: basename(witness.inputPath),
      });
    }
    const sha256 = await this.#client.upload(witness.path, hooks.signal);
    const params = { kind: 'circom', key, payload: { sha256 }, ...(backend && { backend }) };
    const { job_id: id } = await this.#client.prove(params, hooks.signal);
    try {
      const job = await this.#client.settled(id, hooks.onProgress ?? (() => {}), hooks.signal);
      return {
        jobId: id,
        proof: job.proof as ProveReport['proof'],
        public: job.public as readonly string[],
        keyDigest: job.key_digest as string,
        backend: job.backend as ProveReport['backend'],
        device: job.device as string,
        attempts: job.attempts as number,
        ...(job.fallback_reason !== undefined && { fallbackReason: String(job.fallback_reason) }),
        verified: true,
        timeline: await this.timeline(id),
        timings: job.timings as Timings,
      };
    } catch (thrown) {
      if (hooks.signal.aborted) await this.#client.cancel(id).catch(() => {});
      throw thrown;
    }
  }

  verify(input: VerifyInput, { signal }: CallHooks): Promise<VerifyOutcome> {
    const { verificationKey, ...rest } = input;
    return this.#client.verify(
      { ...rest, ...(verificationKey !== undefined && { verification_key: verificationKey }) },
      signal,
    );
  }

  timeline(jobId: string): Promise<Timeline> {
    return this.#client.timeline(jobId);
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}
