import type { BackendName, BackendStage, Run } from '../backend/backend.ts';
import { equalBytes, toHex } from '../core/bytes.ts';
import { ProverError } from '../core/errors.ts';
import { type Micros, nowMicros } from '../core/units.ts';
import { writeProof } from '../formats/bellman.ts';
import { writePublicInputs, writeSnarkjsProof } from '../formats/snarkjs-json.ts';
import { drawBlinding } from '../groth16/blinding.ts';
import type { Blinding, Proof } from '../groth16/types.ts';
import type { Stage } from '../telemetry/events.ts';
import type { Assignment } from './assignment.ts';
import { checkConstraints } from './constraints.ts';
import { digestFile } from './digest.ts';
import type { LoadedKeys, ResidentKey } from './loaded-keys.ts';
import { verifyProof } from './native-verify.ts';
import { type Partition, Programs } from './partition.ts';
import { PartitionReader } from './partition-reader.ts';
import type {
  PartitionParams,
  PartitionResult,
  PartitionSource,
  ProofOrigin,
  ProveParams,
  ProveResult,
  ProverChoice,
} from './protocol.ts';

import type { Call } from './server.ts';
import { openWitness } from './witness.ts';

/**
 * Share of a prove call's progress at which its parts begin; the rest is the multi-scalar
 * multiplications.
 */
const PROGRESS = { load: 0, compute: 0.15, verify: 0.98 } as const;

interface Attempt {
  readonly proof: Proof;
  readonly valid: boolean;
  readonly reason: string;
}

interface Proven {
  readonly proof: Proof;
  readonly origin: ProofOrigin;
}

/** Makes proofs that verify, and nothing else. */
export class Prover {
  readonly #keys: LoadedKeys;
  readonly #programs = new Programs();
  readonly #reader = new PartitionReader();

  constructor(keys: LoadedKeys) {
    this.#keys = keys;
  }

  async prove(params: ProveParams, call: Call): Promise<ProveResult> {
    const stages = new Stages(call, params, 0);
    const key = await this.#load(params, stages);
    await using witness = await stages.span('SYNTH', () =>
      openWitness(params.witness, key.source, call.signal),
    );
    if (params.r1csPath !== undefined) {
      await checkConstraints(params.r1csPath, witness, call.signal);
    }
    const { proof, origin } = await this.#make(params, key, witness, stages);
    return {
      proof: writeSnarkjsProof(proof),
      public: writePublicInputs(witness.publicInputs),
      ...origin,
    };
  }

  async provePartition(params: PartitionParams, call: Call): Promise<PartitionResult> {
    const stages = new Stages(call, params, params.source.partition);
    const partition = await this.#read(params.source, stages);
    const key = await this.#load(params, stages);
    if (!this.#programs.has(partition.circuit)) {
      await stages.span('LAYOUT', async () => this.#programs.get(partition.circuit));
    }
    await using assignment = partition.assignment(key.source, this.#programs);
    if (params.next !== undefined) {
      this.#reader.readAhead({ ...params.source, partition: params.next });
    }
    try {
      const { proof, origin } = await this.#make(params, key, assignment, stages);
      return { proof: toHex(writeProof(proof)), ...origin };
    } catch (thrown) {
      this.#reader.drop();
      throw thrown;
    }
  }

  #read(source: PartitionSource, stages: Stages): Promise<Partition> {
    const ahead = this.#reader.take(source);
    return ahead === undefined
      ? stages.span('VANILLA', () => this.#reader.read(source, stages.signal))
      : stages.span('VANILLA', () => ahead.get(stages.signal), ahead);
  }

  #load(params: ProverChoice, stages: Stages): Promise<ResidentKey> {
    return stages.span('SRS_LOAD', async () => {
      const keyDigest = params.keyDigest ?? (await digestFile(params.keyPath, stages.signal));
      const run = stages.run(PROGRESS.load, PROGRESS.compute);
      return this.#keys.load({ ...params, keyDigest }, run);
    });
  }

  /**
   * A proof that does not verify is computed again on another backend with the same (r, s): equal
   * bytes mean that the witness does not satisfy the circuit, other bytes mean a faulty backend.
   */
  async #make(
    params: ProverChoice,
    key: ResidentKey,
    assignment: Assignment,
    stages: Stages,
  ): Promise<Proven> {
    const blinding = drawBlinding(key.source.curve);
    const first = await attempt(key, assignment, blinding, stages);
    const done = ({ proof }: Attempt, backend: BackendName, fallbackReason?: string): Proven => ({
      proof,
      origin: {
        keyDigest: key.digest,
        backend,
        device: params.device,
        attempts: fallbackReason === undefined ? 1 : 2,
        ...(fallbackReason !== undefined && { fallbackReason }),
        verified: true,
      },
    });
    if (first.valid) return done(first, params.backend);

    const other = await this.#keys.registry.otherThan(params.backend);
    const second = await stages.span('RECHECK', async () => {
      const on = { backend: other, device: '0' };
      const recheck = stages.on(on);
      const otherKey = await this.#keys.load(
        { ...params, keyDigest: key.digest, ...on },
        recheck.run(PROGRESS.load, PROGRESS.compute),
      );
      return attempt(otherKey, assignment, blinding, recheck);
    });
    const fault = `${params.backend}: ${first.reason}`;
    if (second.valid && params.strict === true) {
      throw new ProverError('ERR_BACKEND_FAULT', {
        backend: params.backend,
        detail: `${other} proves it; strict takes no other backend's proof`,
      });
    }
    if (second.valid) return done(second, other, fault);
    if (sameProof(first.proof, second.proof)) {
      throw new ProverError('ERR_WITNESS_UNSATISFIED', { detail: `checked on ${other}` });
    }
    throw new ProverError('ERR_BACKEND_FAULT', {
      backend: params.backend,
      detail: `${other} computes another proof, which does not verify either`,
    });
  }
}

async function attempt(
  key: ResidentKey,
  { input, publicInputs }: Assignment,
  blinding: Blinding,
  stages: Stages,
): Promise<Attempt> {
  const run = stages.run(PROGRESS.compute, PROGRESS.verify);
  const staged = await stages.span('STAGE', () => key.loaded.stage(input, run));
  stages.mark('GPU_QUEUE');
  stages.mark('GPU_PICKUP');
  const computed = await stages.span('GPU', () => key.loaded.compute(staged, blinding, run));
  const proof = await stages.span('FINISH', () => key.loaded.finish(computed, run));
  return stages.span('VERIFY', async () => {
    const verdict = await verifyProof(key.source.verifyingKey, publicInputs, proof, run.signal);
    return { proof, valid: verdict.valid, reason: verdict.valid ? '' : verdict.reason };
  });
}

function sameProof(x: Proof, y: Proof): boolean {
  return equalBytes(x.a, y.a) && equalBytes(x.b, y.b) && equalBytes(x.c, y.c);
}

type Place = Pick<ProverChoice, 'backend' | 'device'>;

/** Emits a start and an end around each stage, whatever happens in between. */
class Stages {
  readonly #call: Call;
  readonly #on: Place;
  readonly #partition: number;

  constructor(call: Call, on: Place, partition: number) {
    this.#call = call;
    this.#on = on;
    this.#partition = partition;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }

  on(place: Place): Stages {
    return new Stages(this.#call, place, this.#partition);
  }

  mark(event: 'GPU_QUEUE' | 'GPU_PICKUP'): void {
    this.#emit(event, nowMicros());
  }

  /** @param times of work that has begun before */
  async span<T>(
    stage: Stage,
    work: () => Promise<T>,
    times: { readonly startedAt: Micros; endedAt(): Micros } = {
      startedAt: nowMicros(),
      endedAt: nowMicros,
    },
  ): Promise<T> {
    this.#call.signal.throwIfAborted();
    this.#emit(`${stage}_START`, times.startedAt);
    try {
      const result = await work();
      this.#emit(`${stage}_END`, times.endedAt());
      return result;
    } catch (thrown) {
      const error = thrown instanceof ProverError ? thrown.code : 'ERR_INTERNAL';
      this.#emit(`${stage}_END`, times.endedAt(), { error });
      throw thrown;
    }
  }

  /**
   * What a backend reports to: its stages become events, its progress becomes [from, to] of the
   * call's.
   */
  run(from: number, to: number): Run {
    return {
      signal: this.#call.signal,
      stage: (name: BackendStage, start: Micros, end: Micros) => {
        this.#emit(`${name}_START`, start);
        this.#emit(`${name}_END`, end);
      },
      progress: (share) => this.#call.progress(from + (to - from) * share),
    };
  }

  #emit(
    event: Parameters<Call['event']>[0]['event'],
    atMicros: Micros,
    attributes?: { error: string },
  ) {
    const { backend, device } = this.#on;
    this.#call.event({
      atMicros,
      event,
      device: `${backend}:${device}`,
      worker: Number(device),
      partition: this.#partition,
      ...(attributes === undefined ? {} : { attributes }),
    });
  }
}
