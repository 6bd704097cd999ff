import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import {
  copyFile,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  unlink,
  writeFile,
} from 'node:fs/promises';
import { basename, join, resolve as resolvePath } from 'node:path';
import { ProverError } from '../core/errors.ts';
import { systemReason } from '../core/source.ts';
import type { InspectedKey } from '../host/protocol.ts';
import { officialKey } from './official.ts';
import { type KeyCatalog, type KeyInfo, KeyRecord } from './stored-key.ts';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;
const DIGEST = /^[0-9a-f]{64}$/;
/** More points are checked on request only. */
const POINTS_CHECKED_MAX = 1_000_000;
const TEMPORARY = /^import-(\d+)-/;
const KEY_FILES = { zkey: 'key.zkey', bellman: 'key.params' } as const;

export interface Progress {
  readonly signal: AbortSignal;
  readonly onProgress?: (share: number) => void;
}

/** What the store has others do, in a device host. */
export interface KeyInspector {
  inspect(path: string, options: Progress): Promise<InspectedKey>;
  checkKey(path: string, digest: string, options: Progress): Promise<void>;
}

export interface ImportOptions {
  readonly name?: string;
  /** Leave the file where it is. */
  readonly link?: boolean;
  /** SHA-256 from a trusted place; then the points need no check. */
  readonly digest?: string;
  /** Check the points, however many there are. */
  readonly full?: boolean;
}

export interface Verification {
  readonly key: KeyInfo;
  /** What is wrong with it; undefined where nothing is. */
  readonly damage?: string;
}

/**
 * Keys in a folder: `<sha256>/` holds a key and its record, `names/` a file a name with the digest
 * in it. Everything appears whole, by rename, so that several processes may use it at once.
 */
export class KeyStore implements KeyCatalog {
  readonly #folder: string;
  readonly #inspector: KeyInspector;

  constructor(folder: string, inspector: KeyInspector) {
    this.#folder = folder;
    this.#inspector = inspector;
  }

  async list(): Promise<readonly KeyInfo[]> {
    const namesByDigest = await this.#names();
    const digests = (await readdirOrNone(this.#folder)).filter((entry) => DIGEST.test(entry));
    const keys = await Promise.all(
      digests.map((digest) => this.#info(digest, namesByDigest.get(digest) ?? [])),
    );
    return keys.filter((key) => key !== undefined).sort((x, y) => (x.name < y.name ? -1 : 1));
  }

  async resolve(nameOrDigest: string): Promise<KeyInfo> {
    const key = await this.find(nameOrDigest);
    const { damage } = await unchanged(key);
    if (damage !== undefined) throw damaged(key, 'the file that was imported', damage);
    return key;
  }

  /** Like `resolve`, also for a damaged key. @throws ERR_KEY_UNKNOWN */
  async find(nameOrDigest: string): Promise<KeyInfo> {
    const lower = nameOrDigest.toLowerCase();
    const digest = DIGEST.test(lower) ? lower : await this.#digestOf(nameOrDigest);
    const names = (await this.#names()).get(digest ?? '') ?? [];
    const key = digest === undefined ? undefined : await this.#info(digest, names);
    if (key === undefined) throw new ProverError('ERR_KEY_UNKNOWN', { key: nameOrDigest });
    return key;
  }

  /**
   * Checks a key and stores it. A key that is stored already only gets the name.
   * @throws ERR_FORMAT, ERR_FILE, ERR_KEY_DAMAGED for another digest than the promised one,
   *   ERR_PARAMS for a name that another key has
   */
  async import(path: string, options: ImportOptions, progress: Progress): Promise<KeyInfo> {
    const { name, link = false } = options;
    if (name !== undefined) await this.#checkName(name, undefined);
    await this.#removeLeftovers();
    const temporary = join(this.#folder, `import-${process.pid}-${randomUUID()}`);
    await mkdir(temporary, { recursive: true, mode: 0o700 });
    try {
      const file = link ? resolvePath(path) : join(temporary, 'key');
      if (!link) await copy(path, file);
      const record = await this.#examine(path, file, options, progress);
      if (name !== undefined) await this.#checkName(name, record.digest);
      if (!link) await rename(file, join(temporary, KEY_FILES[record.format]));
      await this.#keep(temporary, record);
      if (name !== undefined) await this.#giveName(name, record.digest);
      return await this.find(record.digest);
    } finally {
      await rm(temporary, { recursive: true, force: true });
    }
  }

  /** Reads a stored key once more, byte for byte. */
  async verify(nameOrDigest: string, progress: Progress): Promise<Verification> {
    const key = await this.find(nameOrDigest);
    const { damage } = await unchanged(key);
    if (damage !== undefined) return { key, damage };
    try {
      const now = await this.#inspector.inspect(key.path, progress);
      if (now.digest === key.digest) return { key };
      const piece = now.pieces.findIndex((digest, i) => digest !== key.pieces[i]);
      return { key, damage: `other bytes ${placeOf(key, piece)}` };
    } catch (thrown) {
      if (!(thrown instanceof ProverError) || thrown.code === 'ERR_CANCELLED') throw thrown;
      return { key, damage: thrown.message };
    }
  }

  /** Removes a key and its names; a linked file stays where it is. @throws ERR_KEY_UNKNOWN */
  async remove(nameOrDigest: string): Promise<KeyInfo> {
    const key = await this.find(nameOrDigest);
    for (const name of key.names) await unlink(join(this.#folder, 'names', name)).catch(() => {});
    const going = join(this.#folder, `import-${process.pid}-${randomUUID()}`);
    await rename(join(this.#folder, key.digest), going);
    await rm(going, { recursive: true, force: true });
    return key;
  }

  async #examine(
    source: string,
    file: string,
    { digest: trusted, full = false, link = false }: ImportOptions,
    progress: Progress,
  ): Promise<KeyRecord> {
    const part = (from: number, to: number): Progress => ({
      signal: progress.signal,
      onProgress: (share) => progress.onProgress?.(from + (to - from) * share),
    });
    const { blake2b, insecure, ...facts } = await this.#inspector.inspect(file, part(0, 0.3));
    const { digest } = facts;
    const origin = basename(source);
    if (trusted !== undefined && trusted.toLowerCase() !== digest) {
      throw damaged({ name: origin }, `the digest ${trusted}`, digest);
    }
    const official = officialKey(origin);
    if (official !== undefined && official.blake2b !== blake2b) {
      const expected = `the published BLAKE2b digest ${official.blake2b}`;
      throw damaged({ name: origin }, expected, blake2b);
    }
    let points: KeyRecord['points'] = 'not checked';
    if (official !== undefined) points = 'official file';
    else if (trusted !== undefined) points = 'trusted digest';
    if (full || (points === 'not checked' && facts.pointCount <= POINTS_CHECKED_MAX)) {
      await this.#inspector.checkKey(file, digest, part(0.3, 1));
      points = 'checked';
    }
    return {
      version: 1,
      ...facts,
      parts: [...facts.parts],
      pieces: [...facts.pieces],
      points,
      ...(official && { circuit: `${official.circuit} ${official.sectorSize}` }),
      origin,
      ...(insecure !== undefined && { insecure }),
      importedAt: new Date().toISOString(),
      ...(link && { link: file }),
      modifiedMs: (await stat(file)).mtimeMs,
    };
  }

  /**
   * The same key may be there already: then its record only learns that its points were checked.
   */
  async #keep(temporary: string, record: KeyRecord): Promise<void> {
    await rm(join(temporary, 'key.meta.json'), { force: true });
    const known = await this.#info(record.digest, []);
    const kept = known === undefined ? record : KeyRecord.strip().parse(known);
    const points = record.points === 'checked' ? record.points : kept.points;
    const text = `${JSON.stringify({ ...kept, points }, null, 2)}\n`;
    await writeSynced(join(temporary, 'meta.json'), text);
    const folder = join(this.#folder, record.digest);
    if (known === undefined) await rename(temporary, folder).catch(ifStored);
    else await rename(join(temporary, 'meta.json'), join(folder, 'meta.json'));
  }

  async #info(digest: string, names: readonly string[]): Promise<KeyInfo | undefined> {
    const folder = join(this.#folder, digest);
    const text = await readFile(join(folder, 'meta.json'), 'utf8').catch(() => undefined);
    if (text === undefined) return undefined;
    const record = parseRecord(text);
    if (record === undefined || record.digest !== digest) {
      throw damaged({ name: digest }, 'a record as proofline wrote it', 'another meta.json');
    }
    const path = record.link ?? join(folder, KEY_FILES[record.format]);
    return { ...record, names, name: names[0] ?? digest.slice(0, 16), path };
  }

  async #names(): Promise<ReadonlyMap<string, readonly string[]>> {
    const byDigest = new Map<string, string[]>();
    for (const name of (await readdirOrNone(join(this.#folder, 'names'))).sort()) {
      const digest = NAME.test(name) ? await this.#digestOf(name) : undefined;
      if (digest !== undefined) byDigest.set(digest, [...(byDigest.get(digest) ?? []), name]);
    }
    return byDigest;
  }

  async #digestOf(name: string): Promise<string | undefined> {
    if (!NAME.test(name)) return undefined;
    const text = await readFile(join(this.#folder, 'names', name), 'utf8').catch(() => '');
    return DIGEST.test(text) ? text : undefined;
  }

  /** @param digest of the key that is to get the name, once it is known */
  async #checkName(name: string, digest: string | undefined): Promise<void> {
    if (!NAME.test(name) || DIGEST.test(name)) {
      const expected = 'letters, digits, dots, dashes and underscores';
      throw new ProverError('ERR_PARAMS', { subject: 'name', expected, actual: name });
    }
    const holder = await this.#digestOf(name);
    if (holder === undefined || digest === undefined || holder === digest) return;
    if ((await this.#info(holder, [])) === undefined) return;
    const actual = `${name}, which key ${holder.slice(0, 16)} has`;
    throw new ProverError('ERR_PARAMS', { subject: 'name', expected: 'a free name', actual });
  }

  async #giveName(name: string, digest: string): Promise<void> {
    await mkdir(join(this.#folder, 'names'), { recursive: true, mode: 0o700 });
    const fresh = join(this.#folder, `import-${process.pid}-${randomUUID()}`);
    await writeSynced(fresh, digest);
    await rename(fresh, join(this.#folder, 'names', name));
  }

  /** What processes that are gone have left of their imports. */
  async #removeLeftovers(): Promise<void> {
    for (const entry of await readdirOrNone(this.#folder)) {
      const pid = TEMPORARY.exec(entry)?.[1];
      if (pid === undefined || isAlive(Number(pid))) continue;
      await rm(join(this.#folder, entry), { recursive: true, force: true });
    }
  }
}

/** Whether the file is still the one that was imported, as far as its size and time tell. */
async function unchanged(key: KeyInfo): Promise<{ damage?: string }> {
  const info = await stat(key.path).catch(() => undefined);
  if (info === undefined) return { damage: 'no file' };
  if (info.size !== key.bytes) return { damage: `${info.size} bytes instead of ${key.bytes}` };
  if (info.mtimeMs !== key.modifiedMs) return { damage: 'a file that has been written to since' };
  return {};
}

/** In words: which bytes, and which parts of the key they belong to. */
function placeOf({ parts, bytes }: KeyInfo, piece: number): string {
  const pieceBytes = 64 * 1024 * 1024;
  const from = piece * pieceBytes;
  const to = Math.min(bytes, from + pieceBytes);
  const hit = parts.filter(({ offset, length }) => offset < to && offset + length > from);
  const names = hit.map(({ name }) => name).join(', ');
  return `between ${from} and ${to}${names === '' ? '' : ` (${names})`}`;
}

async function copy(from: string, to: string): Promise<void> {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE);
    const sidecar = `${from}.meta.json`;
    await copyFile(sidecar, `${to}.meta.json`).catch(() => {});
    const handle = await open(to, 'r');
    await handle.sync();
    await handle.close();
  } catch (cause) {
    throw new ProverError('ERR_FILE', { path: basename(from), reason: systemReason(cause) }, cause);
  }
}

async function writeSynced(path: string, text: string): Promise<void> {
  await writeFile(path, text, { flag: 'wx', mode: 0o600, flush: true });
}

async function readdirOrNone(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

function parseRecord(text: string): KeyRecord | undefined {
  try {
    return KeyRecord.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** A key is the same whoever stored it first. */
function ifStored(cause: NodeJS.ErrnoException): void {
  if (cause.code !== 'EEXIST' && cause.code !== 'ENOTEMPTY') throw cause;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === 'EPERM';
  }
}

function damaged({ name }: { readonly name: string }, expected: string, actual: string) {
  return new ProverError('ERR_KEY_DAMAGED', { key: name, expected, actual });
}
