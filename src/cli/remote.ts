import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import { type Client, type CompletedJob, connect, type Job } from '../client/client.ts';
import { ProverError } from '../core/errors.ts';
import { openFile, systemReason } from '../core/source.ts';
import type { CircomOutcome, ProveOutcome, VerifyOutcome } from '../pipeline/pipeline.ts';
import type { Timeline } from '../trace/timeline.ts';
import type { Timings } from '../trace/timings.ts';
import type {
  CallHooks,
  ProveInput,
  ProveReport,
  RemoteServer,
  StatementProof,
  VerifyInput,
} from './wiring.ts';

/** A running service as a prover. */
export class RemoteProver implements RemoteServer {
  readonly #client: Client;

  constructor(url: string, token: string | undefined) {
    this.#client = connect(url, token === undefined ? {} : { token });
  }

  async prove(input: ProveInput, hooks: CallHooks): Promise<ProveReport> {
    const { signal, onProgress } = hooks;
    const { job_id: id } = await this.#submit(input, signal);
    try {
      const job = await this.#client.settled(id, { signal, ...(onProgress && { onProgress }) });
      return {
        ...outcomeOf(job),
        jobId: id,
        timeline: await this.timeline(id),
        timings: (job.timings ?? {}) as Timings,
      };
    } catch (thrown) {
      if (signal.aborted) await this.#client.cancel(id).catch(() => {});
      throw thrown;
    }
  }

  async #submit(input: ProveInput, signal: AbortSignal): Promise<Job> {
    if ('witness' in input) {
      const { key, witness, backend } = input;
      if (!('path' in witness)) {
        throw new ProverError('ERR_PARAMS', {
          subject: 'witness',
          expected: 'a .wtns file for a server',
          actual: basename(witness.inputPath),
        });
      }
      const blob = await blobOf(witness.path);
      return this.#client.submit({ key, witness: blob, ...(backend && { backend }) }, signal);
    }
    const { statement, vanilla, ...rest } = input;
    const encoded = new TextEncoder().encode(JSON.stringify(statement));
    const sha256 = await this.#client.upload(encoded, signal);
    const files = await Promise.all(vanilla.map(blobOf));
    return this.#client.submit({ ...rest, statement: { sha256 }, vanilla: files }, signal);
  }

  verify(input: VerifyInput, { signal }: CallHooks): Promise<VerifyOutcome> {
    const { verificationKey, ...rest } = input;
    const params =
      verificationKey === undefined ? rest : { ...rest, verification_key: verificationKey };
    return this.#client.verify(params, signal);
  }

  verifyStatement(input: StatementProof, { signal }: CallHooks): Promise<VerifyOutcome> {
    return this.#client.verify(input, signal);
  }

  timeline(jobId: string): Promise<Timeline> {
    return this.#client.timeline(jobId) as Promise<Timeline>;
  }

  async [Symbol.asyncDispose](): Promise<void> {}
}

function outcomeOf(job: CompletedJob): ProveOutcome {
  const origin = {
    keyDigest: job.key_digest,
    backend: job.backend as ProveOutcome['backend'],
    device: job.device ?? '',
    attempts: job.attempts ?? 1,
    ...(job.fallback_reason !== undefined && { fallbackReason: job.fallback_reason }),
    verified: true,
  } as const;
  if (job.kind === 'circom') {
    return { ...origin, proof: job.proof as CircomOutcome['proof'], public: job.public };
  }
  return {
    ...origin,
    kind: job.kind,
    registeredProof: job.registered_proof ?? '',
    proof: job.proof,
    partitions: job.partitions.map(({ fallback_reason, ...rest }) => ({
      ...rest,
      ...(fallback_reason !== undefined && { fallbackReason: fallback_reason }),
    })),
    ...(job.aggregated === false && { aggregated: false }),
  };
}

async function blobOf(path: string): Promise<Blob> {
  // A pipe or a device would never end.
  await (await openFile(path, path))[Symbol.asyncDispose]();
  return openAsBlob(path).catch((cause) => {
    throw new ProverError('ERR_FILE', { path, reason: systemReason(cause) }, cause);
  });
}
