import { availableParallelism, cpus, totalmem } from 'node:os';
import {
  BACKEND_API_VERSION,
  type Computed,
  type Device,
  type DeviceInfo,
  type Estimate,
  type LoadedKey,
  type LoadOptions,
  type PartitionInput,
  type ProverBackend,
  type Run,
  type Staged,
} from '../../src/backend/backend.ts';
import { assert } from '../../src/core/assert.ts';
import { ProverError } from '../../src/core/errors.ts';
import type { Blinding, Proof, ProvingKeySource } from '../../src/groth16/types.ts';
import type { G1Bytes, G2Bytes } from '../../src/math/curve.ts';
import {
  type ComputedHandle,
  type CpuAddon,
  type Handle,
  type KeyHandle,
  type Listener,
  loadAddon,
  type PoolHandle,
  type StagedHandle,
} from './addon.ts';
import { settled } from './native-call.ts';

const DEVICE_ID = '0';

let loaded: ReturnType<typeof loadAddon> | undefined;
const addonOrReason = () => (loaded ??= loadAddon());

/** The native prover on this machine's processor, at most `threads` threads of it. */
export const cpuBackend: ProverBackend = {
  apiVersion: BACKEND_API_VERSION,
  name: 'cpu',
  async probe() {
    const result = addonOrReason();
    if ('reason' in result) return { available: false, reason: result.reason };
    return { available: true, version: result.addon.instructionSet(), devices: [deviceInfo()] };
  },
  async open(device, { threads }) {
    const result = addonOrReason();
    if ('reason' in result) {
      throw new ProverError('ERR_BACKEND_UNAVAILABLE', { backend: 'cpu', reason: result.reason });
    }
    if (device !== DEVICE_ID) {
      throw new ProverError('ERR_PARAMS', { subject: 'device', expected: '0', actual: device });
    }
    return new CpuDevice(result.addon, Math.min(threads, 4 * availableParallelism()));
  },
};

function deviceInfo(): DeviceInfo {
  const name = cpus()[0]?.model ?? process.arch;
  return { id: DEVICE_ID, name, memoryBytes: totalmem() };
}

class CpuDevice implements Device {
  readonly info = deviceInfo();
  readonly estimate = estimate;
  readonly #addon: CpuAddon;
  readonly #pool: PoolHandle;

  constructor(addon: CpuAddon, threads: number) {
    this.#addon = addon;
    this.#pool = addon.openPool(threads);
  }

  async load(key: ProvingKeySource, { checkPoints }: LoadOptions, run: Run): Promise<LoadedKey> {
    const addon = this.#addon;
    const start = (listener: Listener) => addon.load(this.#pool, key, checkPoints, listener);
    return new CpuKey(addon, key, await settled(run, start));
  }

  /** Keys that were loaded keep the pool until they are disposed too. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#addon.release(this.#pool);
  }
}

class CpuKey implements LoadedKey {
  readonly #addon: CpuAddon;
  readonly #key: ProvingKeySource;
  readonly #handle: KeyHandle;

  constructor(addon: CpuAddon, key: ProvingKeySource, handle: KeyHandle) {
    this.#addon = addon;
    this.#key = key;
    this.#handle = handle;
  }

  async stage(input: PartitionInput, run: Run): Promise<Staged> {
    const addon = this.#addon;
    const staged = await settled(run, (listener) => addon.stage(this.#handle, input, listener));
    return new Owned<StagedHandle>(addon, staged);
  }

  async compute(staged: Staged, blinding: Blinding, run: Run): Promise<Computed> {
    const addon = this.#addon;
    const handle = Owned.of<StagedHandle>(staged);
    const start = (listener: Listener) => addon.compute(this.#handle, handle, blinding, listener);
    return new Owned<ComputedHandle>(addon, await settled(run, start));
  }

  async finish(computed: Computed, run: Run): Promise<Proof> {
    const handle = Owned.of<ComputedHandle>(computed);
    const start = (listener: Listener) => this.#addon.finish(this.#handle, handle, listener);
    const { a, b, c } = await settled(run, start);
    return { curve: this.#key.curve, a: a as G1Bytes, b: b as G2Bytes, c: c as G1Bytes };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#addon.release(this.#handle);
  }
}

/** What is opaque between two calls. The native side refuses one that was consumed. */
class Owned<H extends Handle<string>> implements Staged, Computed {
  readonly __staged = true;
  readonly __computed = true;
  readonly #addon: CpuAddon;
  readonly #handle: H;

  constructor(addon: CpuAddon, handle: H) {
    this.#addon = addon;
    this.#handle = handle;
  }

  static of<H extends Handle<string>>(owned: Staged | Computed): H {
    assert(owned instanceof Owned, 'cpu: expected a partition of its own');
    return (owned as Owned<H>).#handle;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#addon.release(this.#handle);
  }
}

/** Bytes of native memory, rounded up. */
const BYTES = { scalar: 32, rowEntry: 8, record: 44 } as const;
/** Additions, digits and buckets of one multi-scalar multiplication, by term and at least. */
const MSM = { bytesATerm: 128, bytesMin: 32 * 2 ** 20 } as const;

/** Mapped queries count in full: they are wanted in the page cache. */
function estimate(key: ProvingKeySource, batch: number): Estimate {
  const queries = [key.h, key.l, key.a, key.bG1, key.bG2];
  const keyBytes =
    queries.reduce((sum, { slice }) => sum + slice.length, 0) +
    (key.rows?.count ?? 0) * BYTES.rowEntry;
  const wires = key.inputCount + key.auxCount;
  const rows = 2 ** key.logN;
  // Twiddle factors; then the witness in both forms, a, b and c.
  const domain = 2 * rows * BYTES.scalar;
  const partition = (2 * wires + 3 * rows) * BYTES.scalar;
  const msm = MSM.bytesMin + Math.min(Math.max(wires, rows), 2 ** 20) * MSM.bytesATerm;
  return {
    deviceBytes: 0,
    pinnedBytes: 0,
    hostBytes: keyBytes + domain + msm + batch * partition,
  };
}
