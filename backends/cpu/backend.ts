import { availableParallelism, cpus, totalmem } from 'node:os';
import {
  BACKEND_API_VERSION,
  type Device,
  type DeviceInfo,
  type Estimate,
  type LoadedKey,
  type LoadOptions,
  type ProverBackend,
  type Run,
} from '../../src/backend/backend.ts';
import { ProverError } from '../../src/core/errors.ts';
import type { ProvingKeySource } from '../../src/groth16/types.ts';
import type { Listener } from '../common/napi/native.ts';
import { settled } from '../common/napi/native-call.ts';
import { NativeKey } from '../common/napi/native-key.ts';
import { type CpuAddon, loadAddon, type PoolHandle } from './addon.ts';

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
    return new NativeKey(addon, key.curve, await settled(run, start));
  }

  /** Keys that were loaded keep the pool until they are disposed too. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#addon.release(this.#pool);
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
