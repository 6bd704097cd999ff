import { formatError, ProverError } from '../core/errors.ts';
import {
  BACKEND_API_VERSION,
  type BackendName,
  type BackendProbe,
  type Device,
  type DeviceId,
  type DeviceOptions,
  type ProverBackend,
} from './backend.ts';

/** Loads a backend's code when it is first asked for: it throws on a machine that cannot run it. */
export interface BackendEntry {
  readonly name: BackendName;
  load(): Promise<ProverBackend>;
}

export interface BackendStatus {
  readonly name: BackendName;
  readonly probe: BackendProbe;
}

type Loaded = { readonly backend: ProverBackend } | { readonly reason: string };

/** The backends of this build, in order of preference. A refusal always comes with its reason. */
export class BackendRegistry {
  readonly #entries: readonly BackendEntry[];
  readonly #loaded = new Map<BackendName, Promise<Loaded>>();

  constructor(entries: readonly BackendEntry[]) {
    this.#entries = entries;
  }

  get names(): readonly BackendName[] {
    return this.#entries.map((entry) => entry.name);
  }

  probeAll(): Promise<readonly BackendStatus[]> {
    return Promise.all(this.names.map(async (name) => ({ name, probe: await this.probe(name) })));
  }

  /** @throws ERR_PARAMS for a name that this build does not have */
  async probe(name: BackendName): Promise<BackendProbe> {
    const loaded = await this.#load(name);
    return 'backend' in loaded ? loaded.backend.probe() : { available: false, ...loaded };
  }

  /** @throws ERR_PARAMS for an unknown name or device, ERR_BACKEND_UNAVAILABLE with the reason */
  async open(name: BackendName, device: DeviceId, options: DeviceOptions): Promise<Device> {
    const loaded = await this.#load(name);
    if (!('backend' in loaded)) throw unavailable(name, loaded.reason);
    const probe = await loaded.backend.probe();
    if (!probe.available) throw unavailable(name, probe.reason);
    return loaded.backend.open(device, options);
  }

  /** The first available backend but `name`, or `name` itself where there is no other. */
  async otherThan(name: BackendName): Promise<BackendName> {
    for (const other of this.names) {
      if (other !== name && (await this.probe(other)).available) return other;
    }
    return name;
  }

  #load(name: BackendName): Promise<Loaded> {
    const entry = this.#entries.find((candidate) => candidate.name === name);
    if (entry === undefined) {
      throw new ProverError('ERR_PARAMS', {
        subject: 'backend',
        expected: this.names.join(' or '),
        actual: name,
      });
    }
    const loaded = this.#loaded.get(name) ?? loadChecked(entry);
    this.#loaded.set(name, loaded);
    return loaded;
  }
}

async function loadChecked(entry: BackendEntry): Promise<Loaded> {
  try {
    const backend = await entry.load();
    if (backend.apiVersion !== BACKEND_API_VERSION) {
      throw formatError('backend API', `version ${BACKEND_API_VERSION}`, backend.apiVersion);
    }
    return { backend };
  } catch (thrown) {
    return { reason: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

function unavailable(backend: BackendName, reason: string): ProverError {
  return new ProverError('ERR_BACKEND_UNAVAILABLE', { backend, reason });
}
