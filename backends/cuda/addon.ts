import type { DeviceInfo, Estimate, LoadOptions } from '../../src/backend/backend.ts';
import type { ProvingKeySource } from '../../src/groth16/types.ts';
import {
  type Handle,
  type KeyCalls,
  type KeyHandle,
  type Listener,
  loadNative,
  type NativeCall,
} from '../common/napi/native.ts';

export type DeviceHandle = Handle<'device'>;
export type Residency = LoadOptions['residency'];

/** `capability`: the compute capability, such as 9.0. */
export type CudaDevice = DeviceInfo & { readonly capability: string };

/** What addon.cpp exports. Arguments of another kind than these throw a TypeError. */
export interface CudaAddon extends KeyCalls {
  /** @returns why there is no device, where there is none */
  probe():
    | { readonly version: string; readonly devices: readonly CudaDevice[] }
    | { readonly reason: string };
  /** @param memoryBytes what it may allocate; 0: all that is free, but a reserve for the driver */
  openDevice(
    id: number,
    memoryBytes: number,
    threads: number,
    listener: Listener,
  ): NativeCall<DeviceHandle>;
  estimate(
    device: DeviceHandle,
    key: ProvingKeySource,
    residency: Residency,
    batch: number,
  ): Estimate;
  load(
    device: DeviceHandle,
    key: ProvingKeySource,
    residency: Residency,
    checkPoints: boolean,
    listener: Listener,
  ): NativeCall<KeyHandle>;
  usedBytes(device: DeviceHandle): number;
  budgetBytes(device: DeviceHandle): number;
  /** Whether device blocks get guards that are looked at after each call. For tests. */
  useGuards(on: boolean): void;
  /** The `call`-th call of its kind from now on fails; 0: none. For tests. */
  plantFault(site: 'allocation' | 'registration' | 'launch' | 'loss', call: number): void;
}

export function loadAddon(): { readonly addon: CudaAddon } | { readonly reason: string } {
  return loadNative('cuda', 'cuda-reason.txt', 'run `npm run build` where nvcc is');
}
