import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { syncFolder } from '../core/sync-folder.ts';
import { alone } from './lock.ts';
import { KeyRecord } from './stored-key.ts';

const DIGEST = /^[0-9a-f]{64}$/;
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const KEY_FILES = { zkey: 'key.zkey', bellman: 'key.params' } as const;
const RECORD = 'meta.json';
/** A record has a thousand pieces of a hundred bytes. */
const RECORD_BYTES_MAX = 2 ** 20;
const NAME_BYTES_MAX = 64;
/** What is on its way in or out; nobody reads it. */
const TEMPORARY = /^(incoming|outgoing)-/;

/** A folder of the store that is named as a key; without a record it is damaged. */
export interface Stored {
  readonly digest: string;
  readonly record?: KeyRecord;
}

/**
 * Where keys lie: `<sha256>/` holds a key (or, of a linked one, nothing but) its record, `names/` a
 * file a name with the digest in it. Everything appears whole, by rename. Methods reject with the
 * system's errors.
 */
export class KeyFolder {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  /** One import at a time, of all processes; what this one or a dead one leaves is removed. */
  importing<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    return alone(join(this.#path, 'lock'), signal, async () => {
      await this.#sweep();
      try {
        return await work();
      } finally {
        await this.#sweep();
      }
    });
  }

  async digests(): Promise<readonly string[]> {
    return (await entriesOf(this.#path)).filter((entry) => DIGEST.test(entry));
  }

  /** Undefined where there is no such key. */
  async stored(digest: string): Promise<Stored | undefined> {
    const folder = join(this.#path, digest);
    const text = await readSmall(join(folder, RECORD), RECORD_BYTES_MAX).catch(ifNotOurs);
    const record = text === undefined ? undefined : parseRecord(text);
    if (record?.digest === digest) return { digest, record };
    return (await exists(folder)) ? { digest } : undefined;
  }

  /** Where the file of a key is. */
  pathOf(record: KeyRecord): string {
    if (record.linked) return record.source.path;
    return join(this.#path, record.digest, KEY_FILES[record.format]);
  }

  /** A new folder for an import. @returns the path of the key's file in it */
  async incoming(): Promise<string> {
    const folder = join(this.#path, `incoming-${randomUUID()}`);
    await mkdir(folder, { mode: 0o700 });
    return join(folder, 'key');
  }

  /**
   * Stores a key, or gives a stored one another record. Who uses a stored key meanwhile finds a
   * whole file.
   * @param file as `incoming` named it; undefined where the stored file or a link is to be used
   */
  async put(record: KeyRecord, file?: string): Promise<void> {
    const { digest, format, linked } = record;
    const folder = join(this.#path, digest);
    const before = await this.stored(digest);
    if (before !== undefined && before.record === undefined) await this.#delete(digest);
    const fresh = join(this.#path, `incoming-${randomUUID()}`);
    if (before?.record === undefined) {
      await mkdir(fresh, { mode: 0o700 });
      if (file !== undefined) await rename(file, join(fresh, KEY_FILES[format]));
      await writeSynced(join(fresh, RECORD), textOf(record));
      await syncFolder(fresh);
      await rename(fresh, folder);
    } else {
      await writeSynced(fresh, textOf(record));
      if (file !== undefined) await rename(file, join(folder, KEY_FILES[format]));
      await rename(fresh, join(folder, RECORD));
      if (linked) await rm(join(folder, KEY_FILES[format]), { force: true });
      await syncFolder(folder);
    }
    await syncFolder(this.#path);
  }

  /** Gives a stored key another record, also while something is imported. */
  async rewrite(record: KeyRecord): Promise<void> {
    const folder = join(this.#path, record.digest);
    const fresh = join(folder, `${RECORD}.${randomUUID()}`);
    await writeSynced(fresh, textOf(record));
    await rename(fresh, join(folder, RECORD));
    await syncFolder(folder);
  }

  /** Removes a key, which then has no names any more; a linked file stays where it is. */
  async remove(digest: string): Promise<void> {
    const names = (await this.names()).get(digest) ?? [];
    for (const name of names) await rm(join(this.#path, 'names', name), { force: true });
    await this.#delete(digest);
    await syncFolder(this.#path);
  }

  /** The names of each digest, in order. */
  async names(): Promise<ReadonlyMap<string, readonly string[]>> {
    const byDigest = new Map<string, string[]>();
    for (const name of (await entriesOf(join(this.#path, 'names'))).sort()) {
      const digest = await this.digestOf(name);
      if (digest !== undefined) byDigest.set(digest, [...(byDigest.get(digest) ?? []), name]);
    }
    return byDigest;
  }

  async digestOf(name: string): Promise<string | undefined> {
    if (!isName(name)) return undefined;
    const text = await readSmall(join(this.#path, 'names', name), NAME_BYTES_MAX);
    return text !== undefined && DIGEST.test(text) ? text : undefined;
  }

  async giveName(name: string, digest: string): Promise<void> {
    if ((await this.digestOf(name)) === digest) return;
    const folder = join(this.#path, 'names');
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const fresh = join(this.#path, `incoming-${randomUUID()}`);
    await writeSynced(fresh, digest);
    await rename(fresh, join(folder, name));
    await syncFolder(folder);
  }

  async #sweep(): Promise<void> {
    for (const entry of await entriesOf(this.#path)) {
      if (TEMPORARY.test(entry))
        await rm(join(this.#path, entry), { recursive: true, force: true });
    }
  }

  /** Out of sight at once, then piece by piece. */
  async #delete(entry: string): Promise<void> {
    const going = join(this.#path, `outgoing-${randomUUID()}`);
    await rename(join(this.#path, entry), going).catch(ifMissing);
    await rm(going, { recursive: true, force: true });
  }
}

export function isName(text: string): boolean {
  return NAME.test(text) && !DIGEST.test(text);
}

export function isDigest(text: string): boolean {
  return DIGEST.test(text);
}

function textOf(record: KeyRecord): string {
  return `${JSON.stringify(record)}\n`;
}

function parseRecord(text: string): KeyRecord | undefined {
  try {
    return KeyRecord.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Undefined where there is no such file; empty for one that the store has not written. */
async function readSmall(path: string, bytesMax: number): Promise<string | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const file = await open(path, flags).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ELOOP') return '';
    return ifMissing(cause);
  });
  if (file === undefined || file === '') return file;
  try {
    const info = await file.stat();
    return info.isFile() && info.size <= bytesMax ? await file.readFile('utf8') : '';
  } finally {
    await file.close();
  }
}

async function entriesOf(folder: string): Promise<string[]> {
  return (await readdir(folder).catch(ifMissing)) ?? [];
}

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(ifMissing)) !== undefined;
}

function ifMissing(cause: NodeJS.ErrnoException): undefined {
  if (cause.code !== 'ENOENT') throw cause;
}

/** A folder that is another user's, or none. */
function ifNotOurs(cause: NodeJS.ErrnoException): string {
  if (cause.code !== 'EACCES' && cause.code !== 'ENOTDIR') throw cause;
  return '';
}

async function writeSynced(path: string, text: string): Promise<void> {
  await writeFile(path, text, { flag: 'wx', mode: 0o600, flush: true });
}
