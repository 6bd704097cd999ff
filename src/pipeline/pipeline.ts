import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { BackendName, DeviceId, DeviceInfo } from '../backend/backend.ts';
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
  /** Its number within the backend; none where that is not available. */
  readonly device?: DeviceId;
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
  /** Wakes the task once the scheduler has given it a device. */
  go(device: DeviceId): void;
}

/** What each call of a host says besides its own. */
interface Choice {
  readonly backend: BackendName;
  readonly device: DeviceId;
  readonly threads: number;
}

/** The host of one device. */
interface DeviceHost {
  readonly backend: BackendName;
  readonly device: DeviceId;
  readonly client: HostClient;
  crashesInARow: number;
}

/** Obeys the scheduler: one device host a device, and one for everything that is not proving. */
export class Pipeline {
  readonly #createHost: (device: string) => HostClient;
  readonly #threads: number;
  readonly #hosts: DeviceHost[] = [];
  readonly #tools: HostClient;
  readonly #turns = new Map<string, Turn>();
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
    const slot = { jobId, backend, devices: this.#devicesFor(backend, task.keyDigest), rank };
    return await this.#inTurn(slot, listener, {}, async (device) => {
      listener.started();
      return await this.#run(task, listener, { backend, device }, (host, choice, options) =>
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
      const next = partitions[done + 1];
      const known = results[0] === undefined ? {} : { keyDigest: results[0].keyDigest };
      const part: TaskListener = {
        signal: listener.signal,
        started: () => listener.started(),
        crashed: () => listener.crashed(),
        event: (event) => listener.event(event),
        progress: (share) => listener.progress((done + share) / partitions.length),
      };
      const slot: Slot = {
        ...{ jobId, backend, rank, devices: this.#devicesFor(backend, task.keyDigest) },
        ...(done > 0 && { goesOn: true }),
      };
      const askedAt = nowMicros();
      const result = await this.#inTurn(slot, listener, { partition }, async (device) => {
        if (done === 0) listener.started();
        else tellWait(listener, { jobId, partition }, askedAt);
        const what = {
          ...{ ...options, ...known, source: { statement, vanilla, partition } },
          ...(next !== undefined && { next }),
        };
        return await this.#run(task, part, { backend, device }, (host, choice, callOptions) =>
          host.call('provePartition', { ...what, ...choice }, callOptions),
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
    const [device] = this.#devicesFor(backend);
    await this.#tools.call(
      'checkKey',
      { ...this.#choice(backend, device), keyPath, keyDigest },
      options,
    );
  }

  /** Of each device, and of each backend that has none here. */
  hosts(): readonly HostStatus[] {
    return this.#backends.flatMap(({ name: backend, probe }): HostStatus[] => {
      if (probe.available) {
        const { version, devices } = probe;
        return devices.map((info) => ({ ...this.#statusOf(backend, info), version }));
      }
      const { reason } = probe;
      const none = { available: false, state: 'unavailable', restarts: 0, residents: [] } as const;
      return [{ backend, ...none, reason }];
    });
  }

  #statusOf(backend: BackendName, { id: device, name, memoryBytes }: DeviceInfo): HostStatus {
    const host = this.#hosts.find((each) => each.backend === backend && each.device === device);
    const running = this.#state.running.find(
      (each) => each.slot.backend === backend && each.device === device,
    )?.slot;
    const turn = running === undefined ? undefined : this.#turns.get(running.jobId);
    const jobId = turn?.ofKey === true ? undefined : running?.jobId;
    return {
      ...{ backend, available: true, device, deviceName: name, memoryBytes },
      state: jobId === undefined ? 'idle' : 'proving',
      ...(jobId !== undefined && { jobId }),
      ...(turn?.partition !== undefined && { partition: turn.partition }),
      ...(jobId !== undefined &&
        turn?.startedAt !== undefined && { busySinceMicros: turn.startedAt }),
      restarts: host?.client.restarts ?? 0,
      residents: host?.client.residents ?? [],
    };
  }

  /**
   * Loads a key on each device of the backend that would prove with it, between two proofs.
   * @returns false where it was loaded already
   */
  async preload(key: KeyToLoad, signal: AbortSignal): Promise<boolean> {
    const backend = await this.choose(undefined);
    const loads = this.#devicesFor(backend).map((device) =>
      this.#preloadOn({ backend, device }, key, signal),
    );
    return (await Promise.all(loads)).includes(true);
  }

  async #preloadOn(
    { backend, device }: Omit<Choice, 'threads'>,
    { path: keyPath, digest: keyDigest, checked: keyChecked }: KeyToLoad,
    signal: AbortSignal,
  ): Promise<boolean> {
    const { client } = this.#host(backend, device);
    const isLoaded = () => isResident(client, keyDigest);
    if (isLoaded()) return false;
    return await this.#inTurn(keySlot(backend, device), { signal }, { ofKey: true }, async () => {
      if (isLoaded()) return false;
      const choice = this.#choice(backend, device);
      await client.call('loadKey', { ...choice, keyPath, keyDigest, keyChecked }, { signal });
      return true;
    });
  }

  /** Lets a key go wherever it is loaded, between two proofs. @returns bytes of its file, or 0 */
  async unload(keyDigest: string, signal: AbortSignal): Promise<number> {
    let bytes = 0;
    for (const { backend, device, client } of this.#hosts) {
      if (!isResident(client, keyDigest)) continue;
      const slot = keySlot(backend, device);
      const freed = await this.#inTurn(slot, { signal }, { ofKey: true }, () =>
        client.call('unloadKey', { keyDigest }, { signal }),
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
    const clients = this.#hosts.map(({ client }) => client);
    await Promise.all([this.#tools, ...clients].map((client) => client.close()));
  }

  /** Waits for the scheduler, then works. @throws ERR_CANCELLED while it waits */
  async #inTurn<T>(
    slot: Slot,
    { signal }: Pick<TaskListener, 'signal'>,
    what: Pick<Turn, 'partition' | 'ofKey'>,
    work: (device: DeviceId) => Promise<T>,
  ): Promise<T> {
    const { jobId } = slot;
    try {
      const device = await new Promise<DeviceId>((resolve, reject) => {
        const cancel = () => reject(new ProverError('ERR_CANCELLED', { jobId }));
        if (signal.aborted) return cancel();
        signal.addEventListener('abort', cancel, { once: true });
        const turn: Turn = {
          ...what,
          go(given) {
            signal.removeEventListener('abort', cancel);
            turn.startedAt = nowMicros();
            resolve(given);
          },
        };
        this.#turns.set(jobId, turn);
        this.#apply({ type: 'submitted', slot });
      });
      return await work(device);
    } finally {
      this.#turns.delete(jobId);
      this.#apply({ type: 'ended', jobId });
    }
  }

  /** A call of a device's host, and again after a crash as long as the listener wants it. */
  async #run<R extends ProofOrigin>(
    task: TaskOptions,
    listener: TaskListener,
    { backend, device }: Omit<Choice, 'threads'>,
    call: (client: HostClient, choice: Choice, options: CallOptions) => Promise<R>,
  ): Promise<R> {
    const { jobId } = task;
    const open = new OpenStages(jobId, listener);
    const host = this.#host(backend, device);
    for (let starts = 1; ; starts++) {
      try {
        const result = await call(host.client, this.#choice(backend, device), {
          signal: listener.signal,
          onEvent: (event) => open.pass({ ...event, jobId }),
          onProgress: (share) => listener.progress(share),
        });
        host.crashesInARow = 0;
        return { ...result, attempts: result.attempts + starts - 1 };
      } catch (thrown) {
        open.closeAll(thrown);
        const crashed = thrown instanceof ProverError && thrown.code === 'ERR_HOST_CRASHED';
        if (!crashed || !listener.crashed()) throw thrown;
        await backOff(task, listener, ++host.crashesInARow);
      }
    }
  }

  #choice(backend: BackendName, device: DeviceId): Choice {
    return { backend, device, threads: this.#threads };
  }

  #host(backend: BackendName, device: DeviceId): DeviceHost {
    const found = this.#hosts.find((host) => host.backend === backend && host.device === device);
    if (found !== undefined) return found;
    const client = this.#createHost(`${backend}:${device}`);
    const host = { backend, device, client, crashesInARow: 0 };
    this.#hosts.push(host);
    return host;
  }

  /** Those that have a key loaded come first. */
  #devicesFor(backend: BackendName, keyDigest?: string): [DeviceId, ...DeviceId[]] {
    const probe = this.#backends.find(({ name }) => name === backend)?.probe;
    const all = probe?.available === true ? probe.devices.map(({ id }) => id) : [];
    const hasKey = (id: DeviceId) =>
      this.#hosts.some(
        (host) =>
          host.backend === backend && host.device === id && isResident(host.client, keyDigest),
      );
    return all.sort((x, y) => Number(hasKey(y)) - Number(hasKey(x))) as [DeviceId, ...DeviceId[]];
  }

  #apply(event: PipelineEvent): void {
    const { state, actions } = step(this.#state, event);
    this.#state = state;
    for (const { slot, device } of actions) this.#turns.get(slot.jobId)?.go(device);
  }
}

/** A turn of no job, as urgent as an ordinary one. */
function keySlot(backend: BackendName, device: DeviceId): Slot {
  return { jobId: `key-${randomUUID()}`, backend, devices: [device], rank: KEY_RANK };
}

function isResident({ residents }: HostClient, keyDigest: string | undefined): boolean {
  return residents.some(({ digest }) => digest === keyDigest);
}

async function backOff(
  { jobId }: TaskOptions,
  { signal }: TaskListener,
  crashesInARow: number,
): Promise<void> {
  const pause = Math.min(BACK_OFF_MS.max, BACK_OFF_MS.first * 2 ** (crashesInARow - 1));
  await setTimeout(pause, undefined, { signal }).catch(() => {
    throw new ProverError('ERR_CANCELLED', { jobId });
  });
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
