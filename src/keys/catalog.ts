import { mkdir, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ProverError } from '../core/errors.ts';
import type { InspectedKey } from '../host/protocol.ts';

/** Names of key files that a client may use. */
const KEY_FILE = /^([A-Za-z0-9][A-Za-z0-9._-]{0,127})\.(zkey|params)$/;

/** What the service knows of a stored key. */
export interface KeyInfo extends InspectedKey {
  /** The file's name without its ending. */
  readonly name: string;
  readonly path: string;
}

export interface KeyCatalog {
  /** Keys that can be read, by name. */
  list(): Promise<readonly KeyInfo[]>;
  /** @throws ERR_KEY_UNKNOWN */
  resolve(nameOrDigest: string): Promise<KeyInfo>;
}

interface Cached {
  readonly version: string;
  readonly info: Promise<KeyInfo>;
}

/**
 * The keys of a folder. A file is inspected, in a device host, when it is first seen and when it
 * has changed.
 */
export class KeyFolder implements KeyCatalog {
  readonly #folder: string;
  readonly #inspect: (path: string) => Promise<InspectedKey>;
  readonly #cache = new Map<string, Cached>();

  constructor(folder: string, inspect: (path: string) => Promise<InspectedKey>) {
    this.#folder = folder;
    this.#inspect = inspect;
  }

  async list(): Promise<readonly KeyInfo[]> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const files = (await readdir(this.#folder)).filter((file) => KEY_FILE.test(file)).sort();
    const infos = await Promise.allSettled(files.map((file) => this.#info(file)));
    return infos.flatMap((info) => (info.status === 'fulfilled' ? [info.value] : []));
  }

  async resolve(nameOrDigest: string): Promise<KeyInfo> {
    for (const ending of ['zkey', 'params']) {
      const file = `${nameOrDigest}.${ending}`;
      const path = join(this.#folder, file);
      const exists = KEY_FILE.test(file) && (await stat(path).catch(() => undefined));
      if (exists) return this.#info(file);
    }
    const found = (await this.list()).find((key) => key.digest === nameOrDigest.toLowerCase());
    if (found === undefined) throw new ProverError('ERR_KEY_UNKNOWN', { key: nameOrDigest });
    return found;
  }

  async #info(file: string): Promise<KeyInfo> {
    const path = join(this.#folder, file);
    const { size, mtimeMs, ino } = await stat(path);
    const version = `${ino}:${size}:${mtimeMs}`;
    const cached = this.#cache.get(file);
    if (cached?.version === version) return cached.info;
    const name = KEY_FILE.exec(file)?.[1] as string;
    const info = this.#inspect(path).then((key) => ({ ...key, name, path }));
    this.#cache.set(file, { version, info });
    info.catch(() => this.#cache.delete(file));
    return info;
  }
}
