import { availableParallelism } from 'node:os';
import {
  BACKEND_API_VERSION,
  type BackendProbe,
  type Device,
  type DeviceId,
  type DeviceInfo,
  type DeviceOptions,
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
import { type CudaAddon, type DeviceHandle, loadAddon, type Residency } from './addon.ts';

/** From the smallest compute capability that nvcc 13 builds for and the kernels were run on. */
const CAPABILITY_MIN = 8;

let loaded: ReturnType<typeof loadAddon> | undefined;
const addonOrReason = () => (loaded ??= loadAddon());

type Found =
  | { readonly addon: CudaAddon; readonly version: string; readonly devices: readonly DeviceInfo[] }
  | { readonly reason: string };

function find(): Found {
  const result = addonOrReason();
  if ('reason' in result) return result;
  const { addon } = result;
  const found = addon.probe();
  if ('reason' in found) return found;
  const devices = found.devices.filter(({ capability }) => Number(capability) >= CAPABILITY_MIN);
  if (devices.length > 0) return { addon, version: found.version, devices };
  const names = found.devices.map(({ name, capability }) => `${name} (${capability})`).join(', ');
  return { reason: `no device of compute capability ${CAPABILITY_MIN}.0 or more: ${names}` };
}

/** Groth16 on NVIDIA GPUs; a device's id is its number. */
export const cudaBackend: ProverBackend = {
  apiVersion: BACKEND_API_VERSION,
  name: 'cuda',
  async probe(): Promise<BackendProbe> {
    const found = find();
    if ('reason' in found) return { available: false, reason: found.reason };
    const { version, devices } = found;
    const infos = devices.map(({ id, name, memoryBytes }) => ({ id, name, memoryBytes }));
    return { available: true, version, devices: infos };
  },
  async open(id: DeviceId, { threads, memoryBytes = 0 }: DeviceOptions): Promise<Device> {
    const found = find();
    if ('reason' in found) {
      throw new ProverError('ERR_BACKEND_UNAVAILABLE', { backend: 'cuda', reason: found.reason });
    }
    const { addon, devices } = found;
    const info = devices.find((device) => device.id === id);
    if (info === undefined) {
      const expected = devices.map((device) => device.id).join(' or ');
      throw new ProverError('ERR_PARAMS', { subject: 'device', expected, actual: id });
    }
    const lanes = Math.min(threads, 4 * availableParallelism());
    const run = { signal: new AbortController().signal, stage: () => {} };
    const handle = await settled(run, (listener) =>
      addon.openDevice(Number(id), memoryBytes, lanes, listener),
    );
    return new OpenDevice(addon, info, handle);
  },
};

class OpenDevice implements Device {
  readonly info: DeviceInfo;
  readonly #addon: CudaAddon;
  readonly #handle: DeviceHandle;

  constructor(addon: CudaAddon, info: DeviceInfo, handle: DeviceHandle) {
    this.info = info;
    this.#addon = addon;
    this.#handle = handle;
  }

  estimate(key: ProvingKeySource, batch: number, residency: Residency = 'device'): Estimate {
    return this.#addon.estimate(this.#handle, key, residency, batch);
  }

  async load(key: ProvingKeySource, options: LoadOptions, run: Run): Promise<LoadedKey> {
    const addon = this.#addon;
    const { residency, checkPoints } = options;
    const start = (listener: Listener) =>
      addon.load(this.#handle, key, residency, checkPoints, listener);
    return new NativeKey(addon, key.curve, await settled(run, start));
  }

  /** Keys that were loaded keep the device until they are disposed too. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#addon.release(this.#handle);
  }
}
