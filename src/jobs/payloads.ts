import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { assert } from '../core/assert.ts';
import { ProverError } from '../core/errors.ts';
import { syncFolder } from '../core/sync-folder.ts';
import { storageError } from './database.ts';

/** A payload that no job waits for is kept this long, so that a client may prove it again. */
const UNUSED_KEPT_MS = 3_600_000;
/** A job may bring thousands of payloads: not each of them looks at all the others. */
const SWEEP_EVERY_MS = 60_000;
/** Of a payload in memory, written and hashed at once. */
const PIECE_BYTES = 2 ** 20;

export interface PayloadInfo {
  readonly sha256: string;
  readonly bytes: number;
}

/** A payload that another thread has written into the folder, and the store has yet to take. */
export interface PartialPayload extends PayloadInfo {
  /** Name of its file. */
  readonly file: string;
}

export interface PayloadStore {
  /**
   * Streams to disk; nothing is kept of a body that fails or exceeds `limitBytes`. It has reached
   * the disk when this returns. @throws ERR_TOO_LARGE, ERR_STORAGE
   */
  put(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<PayloadInfo>;
  has(sha256: string): boolean;
  /** From front to back. @throws ERR_PAYLOAD_UNKNOWN */
  read(sha256: string): AsyncIterable<Uint8Array>;
}

export interface PayloadFolderOptions {
  readonly folder: string;
  /** Of all payloads together. */
  readonly bytesMax: number;
  /** Whether an unsettled job needs the payload. */
  inUse(sha256: string): boolean;
  /** Pause between sweeps that uploads start. Default: a minute. */
  readonly sweepEveryMs?: number;
}

/** Payloads in a folder, each named by its SHA-256: the same bytes are stored once. */
export class PayloadFolder implements PayloadStore {
  readonly #options: PayloadFolderOptions;
  /** Bytes of all payloads, and of those on their way; counted once, then kept up to date. */
  #bytes: number | undefined;
  #sweeping: Promise<void> | undefined;
  #sweptAtMs = 0;

  constructor(options: PayloadFolderOptions) {
    this.#options = options;
  }

  async put(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<PayloadInfo> {
    const { folder } = this.#options;
    const partial = join(folder, `partial-${randomUUID()}`);
    let written = 0;
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const { sweepEveryMs = SWEEP_EVERY_MS } = this.#options;
      const isDue = Date.now() - this.#sweptAtMs >= sweepEveryMs;
      if (this.#bytes === undefined || isDue) await this.sweep();
      const info = await writeHashed(partial, body, (bytes) => {
        if (written + bytes > limitBytes) {
          throw new ProverError('ERR_TOO_LARGE', { subject: 'payload', limit: limitBytes });
        }
        this.#reserve(bytes);
        written += bytes;
      });
      await this.#sweeping?.catch(() => {});
      if (this.has(info.sha256)) this.#reserve(-written);
      await rename(partial, this.path(info.sha256));
      await syncFolder(folder);
      return info;
    } catch (thrown) {
      this.#reserve(-written);
      await rm(partial, { force: true }).catch(() => {});
      if (thrown instanceof ProverError || !isSystemError(thrown)) throw thrown;
      throw storageError('write', 'payloads', thrown);
    }
  }

  /** Makes the folder ready for what other threads write. @throws ERR_STORAGE */
  async open(): Promise<void> {
    try {
      await mkdir(this.#options.folder, { recursive: true, mode: 0o700 });
      await this.sweep();
    } catch (thrown) {
      throw storageError('write', 'payloads', thrown);
    }
  }

  /**
   * Takes files that `writePartial` has written. Those that it cannot take are removed.
   * @throws ERR_STORAGE
   */
  async adopt(partials: readonly PartialPayload[]): Promise<void> {
    const { folder } = this.#options;
    try {
      await this.#sweeping?.catch(() => {});
      for (const { file, sha256, bytes } of partials) {
        if (!this.has(sha256)) this.#reserve(bytes);
        await rename(join(folder, file), this.path(sha256));
      }
      await syncFolder(folder);
    } catch (thrown) {
      await removePartials(folder, partials);
      if (thrown instanceof ProverError || !isSystemError(thrown)) throw thrown;
      throw storageError('write', 'payloads', thrown);
    }
  }

  has(sha256: string): boolean {
    return existsSync(this.path(sha256));
  }

  async *read(sha256: string): AsyncGenerator<Uint8Array> {
    await this.use(sha256);
    yield* createReadStream(this.path(sha256));
  }

  /** Never outside of the folder. */
  path(sha256: string): string {
    assert(/^[0-9a-f]{64}$/.test(sha256), 'payload: expected a digest');
    return join(this.#options.folder, sha256);
  }

  /** Marks a payload as just used, so that it stays. @throws ERR_PAYLOAD_UNKNOWN */
  async use(sha256: string): Promise<void> {
    await this.#sweeping?.catch(() => {});
    const now = new Date();
    await utimes(this.path(sha256), now, now).catch((cause: NodeJS.ErrnoException) => {
      if (cause.code === 'ENOENT') throw new ProverError('ERR_PAYLOAD_UNKNOWN', { sha256 });
    });
  }

  /** @throws ERR_STORAGE */
  #reserve(bytes: number): void {
    const total = (this.#bytes ?? 0) + bytes;
    const { bytesMax } = this.#options;
    if (bytes > 0 && total > bytesMax) {
      const reason = `expected at most ${bytesMax} bytes of payloads, got more`;
      throw new ProverError('ERR_STORAGE', { subject: 'payloads', action: 'write', reason });
    }
    this.#bytes = total;
  }

  /**
   * Removes old payloads that no job needs, and what an earlier process has left half written. One
   * sweep at a time: what is used or stored meanwhile waits for its end.
   */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#removeOld().finally(() => {
      this.#sweeping = undefined;
    });
    return this.#sweeping;
  }

  async #removeOld(): Promise<void> {
    const { folder, inUse } = this.#options;
    const first = this.#bytes === undefined;
    this.#sweptAtMs = Date.now();
    let kept = 0;
    for (const name of await namesIn(folder)) {
      const path = join(folder, name);
      const info = await stat(path).catch(() => undefined);
      if (info === undefined) continue;
      const old = Date.now() - info.mtimeMs > UNUSED_KEPT_MS;
      const leftOver = first && name.startsWith('partial-');
      if (leftOver || (old && !inUse(name))) {
        await rm(path, { force: true });
        if (!first) this.#reserve(-info.size);
      } else kept += info.size;
    }
    this.#bytes ??= kept;
  }
}

/** Writes a payload that the store then adopts. @throws ERR_STORAGE */
export async function writePartial(folder: string, bytes: Uint8Array): Promise<PartialPayload> {
  const file = `partial-${randomUUID()}`;
  async function* pieces(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      yield bytes.subarray(at, at + PIECE_BYTES);
    }
  }
  try {
    return { file, ...(await writeHashed(join(folder, file), pieces(), () => {})) };
  } catch (thrown) {
    await removePartials(folder, [{ file }]);
    throw storageError('write', 'payloads', thrown);
  }
}

export async function removePartials(
  folder: string,
  partials: readonly Pick<PartialPayload, 'file'>[],
): Promise<void> {
  for (const { file } of partials) await rm(join(folder, file), { force: true }).catch(() => {});
}

/** None where there is no such folder yet. */
async function namesIn(folder: string): Promise<string[]> {
  try {
    return await readdir(folder);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw cause;
  }
}

/** @param count hears the size of each chunk before it is written; it may throw */
async function writeHashed(
  path: string,
  body: AsyncIterable<Uint8Array>,
  count: (bytes: number) => void,
): Promise<PayloadInfo> {
  const hash = createHash('sha256');
  let bytes = 0;
  const file = await open(path, 'wx', 0o600);
  try {
    for await (const chunk of body) {
      count(chunk.length);
      bytes += chunk.length;
      hash.update(chunk);
      await file.writeFile(chunk);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  return { sha256: hash.digest('hex'), bytes };
}

function isSystemError(thrown: unknown): boolean {
  return typeof (thrown as NodeJS.ErrnoException).syscall === 'string';
}
