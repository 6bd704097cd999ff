import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { BackendName } from '../backend/backend.ts';
import { ProverError } from '../core/errors.ts';
import { type Micros, nowMicros } from '../core/units.ts';
import type { CallOptions, HostClient } from '../host/client.ts';
import type {
  BenchPartsParams,
  BenchPartsResult,
  BenchProveParams,
  BenchProveResult,
  BenchSynthesisParams,
  BenchSynthesisResult,
  InspectedKey,
  KeyResidency,
  PartitionResult,
  ProbedBackend,
  ProofOrigin,
  ProveResult,
  SetupParams,
  SetupResult,
  StatementFacts,
  StatementSource,
  VerifyParams,
  VerifyResult,
  WitnessSource,
} from '../host/protocol.ts';
import type { ProverEvent } from '../telemetry/events.ts';
import { type FilecoinOutcome, outcomeOf, partitionsOf, type StatementTask } from './filecoin.ts';
import { EMPTY, type PipelineEvent, type Slot, step } from './step.ts';

export type BackendChoice = BackendName;
export type { FilecoinKind, FilecoinOutcome } from './filecoin.ts';
export type CircomOutcome = ProveResult;
export type ProveOutcome = CircomOutcome | FilecoinOutcome;
export type { StatementFacts, StoredFile } from '../host/protocol.ts';
export type VerifyOutcome = VerifyResult;
export type VerifyInput = VerifyParams;

/** Pause before a host that has crashed is started again; it doubles with each crash in a row. */
const BACK_OFF_MS = { first: 100, max: 30_000 } as const;

/** Of turns that load a key or let one go. */
const KEY_RANK = 2;

/** Shorter ones between partitions are not told. */
const SHOWN_WAIT_MICROS = 1000;

export interface TaskOptions {
  readonly jobId: string;
  readonly keyPath: string;
  readonly keyDigest?: string;
  readonly keyChecked?: boolean;
  /** Absent: the fastest that works here. */
  readonly backend?: BackendName;
  /** 0 is the most urgent, and the default. */
  readonly rank?: number;
  /** Fail rather than take another backend's proof. */
  readonly strict?: boolean;
}

/** A circom circuit's proof. */
export interface ProveTask extends TaskOptions {
  readonly witness: WitnessSource;
  readonly r1csPath?: string;
}

/** What the owner of a task hears, and how it ends the task. */
export interface TaskListener {
  readonly signal: AbortSignal;
  /** Its first turn has come. @throws to give the task up */
  started(): void;
  /** The host has ended under the task. @returns whether to start it once more */
  crashed(): boolean;
  event(event: ProverEvent): void;
  progress(share: number): void;
}

export interface HostStatus {
  readonly backend: BackendName;
  readonly available: boolean;
  /** Why it is not available. */
  readonly reason?: string;
  readonly version?: string;
  readonly deviceName?: string;
  readonly memoryBytes?: number;
  readonly state: 'idle' | 'proving' | 'unavailable';
  readonly jobId?: string;
  /** Of that job, where it makes a proof for each. */
  readonly partition?: number;
  readonly busySinceMicros?: Micros;
  readonly restarts: number;
  /** Keys that its host has loaded. */
  readonly residents: readonly KeyResidency[];
}

/** A stored key, as far as loading it goes. */
export interface KeyToLoad {
  readonly path: string;
  readonly digest: string;
  readonly checked: boolean;
}

interface Turn {
  /** Loads a key or lets one go: no job's. */
  readonly ofKey?: true;
  readonly partition?: number;
  startedAt?: Micros;
  /** Wakes the task once the scheduler has given it its backend. */
  go(): void;
}

/** What each call of a host says besides its own. */
interface Choice {
  readonly backend: BackendName;
  readonly device: string;
  readonly threads: number;
}

/** Obeys the scheduler: one device host a backend, and one for everything that is not proving. */
export class Pipeline {
  readonly #createHost: (device: string) => HostClient;
  readonly #threads: number;
  readonly #hosts = new Map<BackendName, HostClient>();
  readonly #tools: HostClient;
  readonly #turns = new Map<string, Turn>();
  readonly #crashesInARow = new Map<BackendName, number>();
  #state = EMPTY;
  #probed: Promise<readonly ProbedBackend[]> | undefined;
  #backends: readonly ProbedBackend[] = [];

  constructor(options: { createHost(device: string): HostClient; threads: number }) {
    this.#createHost = options.createHost;
    this.#threads = options.threads;
    this.#tools = options.createHost('tools');
  }

  /** What each backend offers here; asked once. Fastest first. */
  async probe(): Promise<readonly ProbedBackend[]> {
    this.#probed ??= this.#tools.call('probe', {});
    this.#probed.catch(() => {
      this.#probed = undefined;
    });
    this.#backends = await this.#probed;
    return this.#backends;
  }

  /** @throws ERR_BACKEND_UNAVAILABLE with the reason */
  async choose(wanted: BackendName | undefined): Promise<BackendName> {
    const backends = await this.probe();
    const found = backends.find(({ name, probe }) => (wanted ?? name) === name && probe.available);
    if (found !== undefined) return found.name;
    const probe = backends.find(({ name }) => name === wanted)?.probe;
    throw new ProverError('ERR_BACKEND_UNAVAILABLE', {
      backend: wanted ?? 'any',
      reason: probe?.available === false ? probe.reason : 'not part of this build',
    });
  }

  async prove(task: ProveTask, listener: TaskListener): Promise<CircomOutcome> {
    const backend = await this.choose(task.backend);
    const { jobId, rank = 0 } = task;
    return await this.#inTurn({ jobId, backend, rank }, listener, {}, async () => {
      listener.started();
      return await this.#run(task, listener, backend, (host, choice, options) =>
        host.call('prove', { ...task, ...choice }, options),
      );
    });
  }

  /** Its partitions one after another, so that more urgent tasks can go between them. */
  async proveStatement(task: StatementTask, listener: TaskListener): Promise<FilecoinOutcome> {
    const backend = await this.choose(task.backend);
    const { statement, vanilla, facts, ...options } = task;
    const { jobId, rank = 0 } = task;
    const partitions = partitionsOf(task);
    const results: PartitionResult[] = [];
    for (const partition of partitions) {
      const done = results.length;
      const known = results[0] === undefined ? {} : { keyDigest: results[0].keyDigest };
      const part: TaskListener = {
        signal: listener.signal,
        started: () => listener.started(),
        crashed: () => listener.crashed(),
        event: (event) => listener.event(event),
        progress: (share) => listener.progress((done + share) / partitions.length),
      };
      const slot = { jobId, backend, rank, ...(done > 0 && { goesOn: true as const }) };
      const askedAt = nowMicros();
      const result = await this.#inTurn(slot, listener, { partition }, async () => {
        if (done === 0) listener.started();
        else tellWait(listener, { jobId, partition }, askedAt);
        const source = { statement, vanilla, partition };
        return await this.#run(task, part, backend, (host, choice, callOptions) =>
          host.call('provePartition', { ...options, ...known, source, ...choice }, callOptions),
        );
      });
      results.push(result);
    }
    return outcomeOf(facts, partitions, results);
  }

  /** What a statement file says. @throws ERR_FORMAT */
  statement(statement: StatementSource): Promise<StatementFacts> {
    return this.#tools.call('statement', { statement });
  }

  verify(params: VerifyParams, signal?: AbortSignal): Promise<VerifyOutcome> {
    return this.#tools.call('verify', params, signal === undefined ? {} : { signal });
  }

  setup(
    params: SetupParams,
    signal: AbortSignal,
    onProgress: (share: number) => void,
  ): Promise<SetupResult> {
    return this.#tools.call('setup', params, { signal, onProgress });
  }

  verificationKey(keyPath: string) {
    return this.#tools.call('vkey', { keyPath });
  }

  inspect(keyPath: string, options: CallOptions = {}): Promise<InspectedKey> {
    return this.#tools.call('inspect', { keyPath }, options);
  }

  /** @param ends where the pieces end that get a CRC-32 each */
  digestKey(keyPath: string, ends: readonly number[], options: CallOptions = {}) {
    return this.#tools.call('digestKey', { keyPath, ends }, options);
  }

  /** Checks the points of a key on the fastest backend. @throws ERR_FORMAT */
  async checkKey(keyPath: string, keyDigest: string, options: CallOptions = {}): Promise<void> {
    const backend = await this.choose(undefined);
    const params = { backend, device: '0', threads: this.#threads, keyPath, keyDigest };
    await this.#tools.call('checkKey', params, options);
  }

  hosts(): readonly HostStatus[] {
    return this.#backends.map(({ name, probe }) => {
      const host = this.#hosts.get(name);
      const running = this.#state.running.find((slot) => slot.backend === name);
      const turn = running === undefined ? undefined : this.#turns.get(running.jobId);
      const jobId = turn?.ofKey === true ? undefined : running?.jobId;
      const device = probe.available ? probe.devices[0] : undefined;
      return {
        backend: name,
        available: probe.available,
        ...(probe.available ? { version: probe.version } : { reason: probe.reason }),
        ...(device && { deviceName: device.name, memoryBytes: device.memoryBytes }),
        state: !probe.available ? 'unavailable' : jobId === undefined ? 'idle' : 'proving',
        ...(jobId !== undefined && { jobId }),
        ...(turn?.partition !== undefined && { partition: turn.partition }),
        ...(jobId !== undefined &&
          turn?.startedAt !== undefined && { busySinceMicros: turn.startedAt }),
        restarts: host?.restarts ?? 0,
        residents: host?.residents ?? [],
      };
    });
  }

  /**
   * Loads a key on the backend that would prove with it, between two proofs.
   * @returns false where it was loaded already
   */
  async preload(key: KeyToLoad, signal: AbortSignal): Promise<boolean> {
    const backend = await this.choose(undefined);
    const host = this.#host(backend);
    const isLoaded = () => host.residents.some(({ digest }) => digest === key.digest);
    if (isLoaded()) return false;
    return await this.#inTurn(keySlot(backend), { signal }, { ofKey: true }, async () => {
      if (isLoaded()) return false;
      const { path: keyPath, digest: keyDigest, checked: keyChecked } = key;
      const choice = { backend, device: '0', threads: this.#threads };
      await host.call('loadKey', { ...choice, keyPath, keyDigest, keyChecked }, { signal });
      return true;
    });
  }

  /** Lets a key go wherever it is loaded, between two proofs. @returns bytes of its file, or 0 */
  async unload(keyDigest: string, signal: AbortSignal): Promise<number> {
    let bytes = 0;
    for (const [backend, host] of this.#hosts) {
      if (!host.residents.some(({ digest }) => digest === keyDigest)) continue;
      const freed = await this.#inTurn(keySlot(backend), { signal }, { ofKey: true }, () =>
        host.call('unloadKey', { keyDigest }, { signal }),
      );
      bytes = Math.max(bytes, freed.bytes);
    }
    return bytes;
  }

  /** Starts nothing more; what runs goes on. */
  drain(): void {
    this.#apply({ type: 'drained' });
  }

  benchProve(params: BenchProveParams, options: CallOptions): Promise<BenchProveResult> {
    return this.#tools.call('benchProve', params, options);
  }

  benchParts(params: BenchPartsParams, options: CallOptions): Promise<BenchPartsResult> {
    return this.#tools.call('benchParts', params, options);
  }

  benchSynthesis(
    params: BenchSynthesisParams,
    options: CallOptions,
  ): Promise<BenchSynthesisResult> {
    return this.#tools.call('benchSynthesis', params, options);
  }

  async close(): Promise<void> {
    await Promise.all([this.#tools, ...this.#hosts.values()].map((host) => host.close()));
  }

  /** Waits for the scheduler, then works. @throws ERR_CANCELLED while it waits */
  async #inTurn<T>(
    slot: Slot,
    { signal }: Pick<TaskListener, 'signal'>,
    what: Pick<Turn, 'partition' | 'ofKey'>,
    work: () => Promise<T>,
  ): Promise<T> {
    const { jobId } = slot;
    try {
      await new Promise<void>((resolve, reject) => {
        const cancel = () => reject(new ProverError('ERR_CANCELLED', { jobId }));
        if (signal.aborted) return cancel();
        signal.addEventListener('abort', cancel, { once: true });
        const turn: Turn = {
          ...what,
          go() {
            signal.removeEventListener('abort', cancel);
            turn.startedAt = nowMicros();
            resolve();
          },
        };
        this.#turns.set(jobId, turn);
        this.#apply({ type: 'submitted', slot });
      });
      return await work();
    } finally {
      this.#turns.delete(jobId);
      this.#apply({ type: 'ended', jobId });
    }
  }

  /** A call of a backend's host, and again after a crash as long as the listener wants it. */
  async #run<R extends ProofOrigin>(
    task: TaskOptions,
    listener: TaskListener,
    backend: BackendName,
    call: (host: HostClient, choice: Choice, options: CallOptions) => Promise<R>,
  ): Promise<R> {
    const { jobId } = task;
    const open = new OpenStages(jobId, listener);
    const choice = { backend, device: '0', threads: this.#threads };
    for (let starts = 1; ; starts++) {
      try {
        const result = await call(this.#host(backend), choice, {
          signal: listener.signal,
          onEvent: (event) => open.pass({ ...event, jobId }),
          onProgress: (share) => listener.progress(share),
        });
        this.#crashesInARow.delete(backend);
        return { ...result, attempts: result.attempts + starts - 1 };
      } catch (thrown) {
        open.closeAll(thrown);
        const crashed = thrown instanceof ProverError && thrown.code === 'ERR_HOST_CRASHED';
        if (!crashed || !listener.crashed()) throw thrown;
        await this.#backOff(task, listener, backend);
      }
    }
  }

  async #backOff(task: TaskOptions, { signal }: TaskListener, backend: BackendName): Promise<void> {
    const crashes = (this.#crashesInARow.get(backend) ?? 0) + 1;
    this.#crashesInARow.set(backend, crashes);
    const pause = Math.min(BACK_OFF_MS.max, BACK_OFF_MS.first * 2 ** (crashes - 1));
    await setTimeout(pause, undefined, { signal }).catch(() => {
      throw new ProverError('ERR_CANCELLED', { jobId: task.jobId });
    });
  }

  #host(backend: BackendName): HostClient {
    const host = this.#hosts.get(backend) ?? this.#createHost(`${backend}:0`);
    this.#hosts.set(backend, host);
    return host;
  }

  #apply(event: PipelineEvent): void {
    const { state, actions } = step(this.#state, event);
    this.#state = state;
    for (const { slot } of actions) this.#turns.get(slot.jobId)?.go();
  }
}

/** A turn of no job, as urgent as an ordinary one. */
function keySlot(backend: BackendName): Slot {
  return { jobId: `key-${randomUUID()}`, backend, rank: KEY_RANK };
}

/** Where more urgent jobs came between two partitions. The first one's wait is the job's own. */
function tellWait(
  listener: TaskListener,
  of: { readonly jobId: string; readonly partition: number },
  askedAt: Micros,
): void {
  const now = nowMicros();
  if (now - askedAt < SHOWN_WAIT_MICROS) return;
  listener.event({ ...of, event: 'QUEUE_START', atMicros: askedAt });
  listener.event({ ...of, event: 'QUEUE_END', atMicros: now });
}

/**
 * Passes a host's events on and ends what a crashed or aborted host left open: every start has an
 * end.
 */
class OpenStages {
  readonly #jobId: string;
  readonly #listener: TaskListener;
  #open: ProverEvent[] = [];

  constructor(jobId: string, listener: TaskListener) {
    this.#jobId = jobId;
    this.#listener = listener;
  }

  pass(event: ProverEvent): void {
    if (event.event.endsWith('_START')) this.#open.push(event);
    if (event.event.endsWith('_END')) {
      const start = event.event.replace('_END', '_START');
      const at = this.#open.findLastIndex((open) => open.event === start);
      if (at >= 0) this.#open.splice(at, 1);
    }
    this.#listener.event(event);
  }

  closeAll(thrown: unknown): void {
    const error = thrown instanceof ProverError ? thrown.code : 'ERR_INTERNAL';
    for (const start of this.#open.reverse()) {
      this.#listener.event({
        ...start,
        jobId: this.#jobId,
        atMicros: nowMicros(),
        event: start.event.replace('_START', '_END') as ProverEvent['event'],
        attributes: { error },
      });
    }
    this.#open = [];
  }
}
