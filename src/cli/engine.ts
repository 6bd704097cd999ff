import { randomBytes, randomUUID } from 'node:crypto';
import { toProverError } from '../core/errors.ts';
import { nowMicros } from '../core/units.ts';
import type {
  BenchPartsParams,
  BenchProveParams,
  BenchSynthesisParams,
  SetupParams,
} from '../host/protocol.ts';
import type { KeyStore } from '../keys/store.ts';
import type { Pipeline, ProveOutcome, StatementFacts, TaskListener } from '../pipeline/pipeline.ts';
import type { AttributeValue, EventName, EventStream, ProverEvent } from '../telemetry/events.ts';
import { timelineOf } from '../trace/timeline.ts';
import { timingsOf } from '../trace/timings.ts';
import type {
  CallHooks,
  Engine,
  ProveInput,
  ProveReport,
  StatementProof,
  VerifyInput,
} from './wiring.ts';

/** A proof whose host ends so often is given up. */
const CRASHES_MAX = 3;

export interface LocalEngineOptions {
  readonly pipeline: Pipeline;
  readonly keys: KeyStore;
  readonly events: EventStream;
  /** What ends with the engine, besides the pipeline. */
  close(): Promise<void>;
}

/** The prover of a command: jobs that live as long as the command does. */
export class LocalEngine implements Engine {
  readonly keys: KeyStore;
  readonly #pipeline: Pipeline;
  readonly #events: EventStream;
  readonly #close: () => Promise<void>;

  constructor({ pipeline, keys, events, close }: LocalEngineOptions) {
    this.keys = keys;
    this.#pipeline = pipeline;
    this.#events = events;
    this.#close = close;
  }

  async prove(input: ProveInput, hooks: CallHooks): Promise<ProveReport> {
    const jobId = randomUUID();
    const events: ProverEvent[] = [];
    const record = (event: ProverEvent): void => {
      events.push(event);
      this.#events.emit(event);
      hooks.onEvent?.(event);
    };
    const emit = (event: EventName, attributes: Record<string, AttributeValue>): void =>
      record({ atMicros: nowMicros(), event, jobId, attributes });
    let crashes = 0;
    const kind = 'witness' in input ? 'circom' : input.kind;
    emit('JOB_START', { kind, traceId: randomBytes(16).toString('hex') });
    try {
      const outcome = await this.#make(input, jobId, {
        signal: hooks.signal,
        started() {},
        crashed: () => ++crashes < CRASHES_MAX,
        event: record,
        progress: (share) => hooks.onProgress?.(share),
      });
      emit('JOB_END', { state: 'completed' });
      return {
        ...outcome,
        jobId,
        timeline: timelineOf(jobId, events),
        timings: timingsOf(events),
      };
    } catch (thrown) {
      const { code } = toProverError(thrown);
      const state = code === 'ERR_CANCELLED' ? 'cancelled' : 'failed';
      emit('JOB_END', { state, error: code });
      throw thrown;
    }
  }

  async #make(input: ProveInput, jobId: string, listener: TaskListener): Promise<ProveOutcome> {
    if ('witness' in input) {
      const { key, ...rest } = input;
      return await this.#pipeline.prove({ ...rest, jobId, keyPath: key }, listener);
    }
    const { statement: value, vanilla, key, partition, backend } = input;
    const statement = { value };
    const facts = await this.#pipeline.statement(statement);
    return await this.#pipeline.proveStatement(
      {
        ...{ jobId, statement, facts, ...(await this.#keyOf(key, facts)) },
        vanilla: vanilla.map((path) => ({ path })),
        ...(partition !== undefined && { partition }),
        ...(backend !== undefined && { backend }),
      },
      listener,
    );
  }

  async #keyOf(path: string | undefined, { kind, sectorSize }: StatementFacts) {
    if (path !== undefined) return { keyPath: path };
    const key = await this.keys.resolveFor(kind, sectorSize);
    return { keyPath: key.path, keyDigest: key.digest, keyChecked: key.points !== 'not checked' };
  }

  verify({ key, ...rest }: VerifyInput, { signal }: CallHooks) {
    return this.#pipeline.verify({ ...rest, ...(key !== undefined && { keyPath: key }) }, signal);
  }

  async verifyStatement({ key, ...rest }: StatementProof, { signal }: CallHooks) {
    const facts = await this.#pipeline.statement({ value: rest.statement });
    const { keyPath } = await this.#keyOf(key, facts);
    return await this.#pipeline.verify({ ...rest, keyPath }, signal);
  }

  setup(params: SetupParams, { signal, onProgress = () => {} }: CallHooks) {
    return this.#pipeline.setup(params, signal, onProgress);
  }

  vkey(keyPath: string) {
    return this.#pipeline.verificationKey(keyPath);
  }

  benchParts(params: BenchPartsParams, { signal, onProgress = () => {} }: CallHooks) {
    return this.#pipeline.benchParts(params, { signal, onProgress });
  }

  benchSynthesis(params: BenchSynthesisParams, { signal, onProgress = () => {} }: CallHooks) {
    return this.#pipeline.benchSynthesis(params, { signal, onProgress });
  }

  benchProve(params: BenchProveParams, { signal, onProgress = () => {} }: CallHooks) {
    return this.#pipeline.benchProve(params, { signal, onProgress });
  }

  probe() {
    return this.#pipeline.probe();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#pipeline.close();
    await this.#close();
  }
}
