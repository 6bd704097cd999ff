import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { ProverError } from '../core/errors.ts';

/** A payload that no job waits for is kept this long, so that a client may prove it again. */
const UNUSED_KEPT_MS = 3_600_000;

export interface PayloadInfo {
  readonly sha256: string;
  readonly bytes: number;
}

export interface PayloadStore {
  /**
   * Streams to disk; nothing is kept of a body that fails or exceeds `limitBytes`. @throws
   * ERR_TOO_LARGE
   */
  put(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<PayloadInfo>;
  has(sha256: string): boolean;
}

/** Payloads in a folder, each named by its SHA-256: the same bytes are stored once. */
export class PayloadFolder implements PayloadStore {
  readonly #folder: string;
  readonly #inUse: (sha256: string) => boolean;

  /** @param inUse whether an unsettled job needs the payload */
  constructor(folder: string, inUse: (sha256: string) => boolean) {
    this.#folder = folder;
    this.#inUse = inUse;
  }

  async put(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<PayloadInfo> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await this.#sweep();
    const partial = join(this.#folder, `partial-${randomUUID()}`);
    try {
      const info = await writeHashed(partial, body, limitBytes);
      await rename(partial, this.path(info.sha256));
      return info;
    } catch (thrown) {
      await rm(partial, { force: true });
      throw thrown;
    }
  }

  has(sha256: string): boolean {
    return existsSync(this.path(sha256));
  }

  path(sha256: string): string {
    return join(this.#folder, sha256);
  }

  /** Marks a payload as just used. */
  async touch(sha256: string): Promise<void> {
    const now = new Date();
    await utimes(this.path(sha256), now, now);
  }

  async #sweep(): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      const path = join(this.#folder, name);
      const info = await stat(path).catch(() => undefined);
      const old = info !== undefined && Date.now() - info.mtimeMs > UNUSED_KEPT_MS;
      if (old && !this.#inUse(name)) await rm(path, { force: true });
    }
  }
}

async function writeHashed(
  path: string,
  body: AsyncIterable<Uint8Array>,
  limitBytes: number,
): Promise<PayloadInfo> {
  const hash = createHash('sha256');
  let bytes = 0;
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > limitBytes) {
        throw new ProverError('ERR_TOO_LARGE', { subject: 'payload', limit: limitBytes });
      }
      hash.update(chunk);
      await file.writeFile(chunk);
    }
  } finally {
    await file.close();
  }
  return { sha256: hash.digest('hex'), bytes };
}
