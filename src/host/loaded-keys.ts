import { stat } from 'node:fs/promises';
import type { BackendName, Device, LoadedKey, LoadOptions, Run } from '../backend/backend.ts';
import type { BackendRegistry } from '../backend/registry.ts';
import { ProverError } from '../core/errors.ts';
import { nowMicros } from '../core/units.ts';
import { openKey } from '../formats/key-file.ts';
import type { ProvingKeySource } from '../groth16/types.ts';
import type { KeyResidency } from './protocol.ts';

/** Keys that stay loaded; the least recently used is let go first. */
const RESIDENT_KEYS_MAX = 4;
/** Where a key may be, fastest first. */
const RESIDENCIES = ['device', 'pinned', 'mapped'] as const;

export interface KeyRequest {
  readonly backend: BackendName;
  readonly device: string;
  readonly threads: number;
  readonly keyPath: string;
  readonly keyDigest: string;
  /** Its points were checked before. */
  readonly keyChecked?: boolean;
}

export interface ResidentKey {
  /** SHA-256 of the key file, hex. */
  readonly digest: string;
  readonly source: ProvingKeySource;
  readonly loaded: LoadedKey;
  readonly residency: KeyResidency;
}

/**
 * Opens devices and loads keys once, however many jobs use them. A key's points are checked at its
 * first load.
 */
export class LoadedKeys {
  readonly registry: BackendRegistry;
  readonly #devices = new Map<string, Promise<Device>>();
  readonly #keys = new Map<string, ResidentKey>();
  readonly #checkedDigests = new Set<string>();
  readonly #tell: (resident: readonly KeyResidency[]) => void;

  /** @param tell hears which keys are loaded, at each use of one */
  constructor(registry: BackendRegistry, tell: (resident: readonly KeyResidency[]) => void) {
    this.registry = registry;
    this.#tell = tell;
  }

  async load(request: KeyRequest, run: Run): Promise<ResidentKey> {
    const id = `${request.backend}:${request.device}:${request.keyDigest}`;
    const resident = this.#keys.get(id);
    if (resident !== undefined) return await this.#use(id, resident);
    const checkPoints = request.keyChecked !== true && !this.#checkedDigests.has(request.keyDigest);
    const device = await this.#open(request);
    const { key: source } = await openKey(request.keyPath, {
      trusted: request.keyChecked === true,
    });
    const loaded = await this.#loadWhereItFits(device, request, source, checkPoints, run);
    this.#checkedDigests.add(request.keyDigest);
    const { backend, keyDigest: digest } = request;
    const { size: bytes } = await stat(request.keyPath);
    const residency = { backend, digest, bytes, lastUsedMicros: nowMicros() };
    return await this.#use(id, { digest, source, loaded, residency });
  }

  /**
   * In the device's memory if need be after other keys have left it; else in the host's, from where
   * each proof copies it. @throws ERR_DEVICE_OUT_OF_MEMORY
   */
  async #loadWhereItFits(
    device: Device,
    request: KeyRequest,
    source: ProvingKeySource,
    checkPoints: boolean,
    run: Run,
  ): Promise<LoadedKey> {
    const residencies = [...RESIDENCIES];
    for (;;) {
      const residency = residencies[0] as LoadOptions['residency'];
      try {
        return await device.load(source, { residency, checkPoints }, run);
      } catch (thrown) {
        const full = thrown instanceof ProverError && thrown.code === 'ERR_DEVICE_OUT_OF_MEMORY';
        if (!full || run.signal.aborted) throw thrown;
        if (await this.#letOldestGo(request)) continue;
        residencies.shift();
        if (residencies.length === 0) throw thrown;
      }
    }
  }

  /** @returns whether the device had a key */
  async #letOldestGo({ backend, device }: KeyRequest): Promise<boolean> {
    const found = [...this.#keys].find(([id]) => id.startsWith(`${backend}:${device}:`));
    if (found === undefined) return false;
    this.#keys.delete(found[0]);
    await found[1].loaded[Symbol.asyncDispose]();
    return true;
  }

  /** Makes it the most recently used. */
  async #use(id: string, { residency, ...key }: ResidentKey): Promise<ResidentKey> {
    const used = { ...key, residency: { ...residency, lastUsedMicros: nowMicros() } };
    this.#keys.delete(id);
    this.#keys.set(id, used);
    await this.#evict();
    this.#tellAll();
    return used;
  }

  /** Lets a key go that no call uses. @returns bytes of its file, 0 where it was not loaded */
  async unload(digest: string): Promise<number> {
    const found = [...this.#keys].filter(([, resident]) => resident.digest === digest);
    for (const [id, { loaded }] of found) {
      this.#keys.delete(id);
      await loaded[Symbol.asyncDispose]();
    }
    this.#tellAll();
    return Math.max(0, ...found.map(([, { residency }]) => residency.bytes));
  }

  #tellAll(): void {
    this.#tell([...this.#keys.values()].map(({ residency }) => residency));
  }

  /** Loads a key only to check its points, and lets it go. @throws ERR_FORMAT */
  async check(request: KeyRequest, run: Run): Promise<void> {
    const device = await this.#open(request);
    const { key } = await openKey(request.keyPath);
    const loaded = await device.load(key, { residency: 'mapped', checkPoints: true }, run);
    await loaded[Symbol.asyncDispose]();
  }

  async #evict(): Promise<void> {
    while (this.#keys.size > RESIDENT_KEYS_MAX) {
      const [oldest, key] = this.#keys.entries().next().value as [string, ResidentKey];
      this.#keys.delete(oldest);
      await key.loaded[Symbol.asyncDispose]();
    }
  }

  #open({ backend, device, threads }: KeyRequest): Promise<Device> {
    const id = `${backend}:${device}`;
    const open = this.#devices.get(id) ?? this.registry.open(backend, device, { threads });
    this.#devices.set(id, open);
    open.catch(() => this.#devices.delete(id));
    return open;
  }
}
