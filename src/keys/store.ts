import { stat } from 'node:fs/promises';
import { basename, resolve as resolvePath } from 'node:path';
import { ProverError } from '../core/errors.ts';
import { systemReason } from '../core/source.ts';
import { CHANGED, damageRead, damageSeen, factsOf } from './damage.ts';
import { isDigest, isName, KeyFolder, type Stored } from './folder.ts';
import {
  bySize,
  damaged,
  Import,
  type ImportOptions,
  type KeyInspector,
  type Progress,
  type SourceFile,
} from './import.ts';
import { storing } from './storage-errors.ts';
import type { KeyCatalog, KeyInfo, KeyRecord } from './stored-key.ts';

/** Shorter beginnings of a digest are not looked up. */
const PREFIX = /^[0-9a-f]{8,63}$/;
const NO_RECORD = 'no record that proofline wrote and that this user may read';

/** What was found of one stored key. */
export interface Verification {
  readonly name: string;
  readonly digest: string;
  /** Where its file should be; undefined where the record does not say. */
  readonly path?: string;
  /** What is wrong with it; undefined where nothing is. */
  readonly damage?: string;
}

/** Keys that were checked once, by digest and name. Several processes may use a folder at once. */
export class KeyStore implements KeyCatalog {
  readonly #folder: KeyFolder;
  readonly #inspector: KeyInspector;
  readonly #needed: (digest: string) => number;

  /** @param needed how many unsettled jobs need a key */
  constructor(folder: string, inspector: KeyInspector, needed: (digest: string) => number) {
    this.#folder = new KeyFolder(folder);
    this.#inspector = inspector;
    this.#needed = needed;
  }

  async list(): Promise<readonly KeyInfo[]> {
    const { keys } = await this.#read();
    return [...keys].sort((x, y) => (x.name < y.name ? -1 : 1));
  }

  /** Keys of which nothing is known any more but the digest. */
  async unreadable(): Promise<readonly Verification[]> {
    const { unreadable, names } = await this.#read();
    return unreadable.map((digest) => ({
      name: nameOf(digest, names.get(digest)),
      digest,
      damage: NO_RECORD,
    }));
  }

  async resolve(nameOrDigest: string): Promise<KeyInfo> {
    const key = await this.find(nameOrDigest);
    if (key.damage === undefined) return key;
    throw damaged(key.name, 'the file that was imported', key.damage);
  }

  /**
   * The key of a circuit of Filecoin: the official one before one that is known to be of it, and
   * that before one of its size. A damaged key is taken where there is no other of its rank.
   * @throws ERR_KEY_UNKNOWN, ERR_KEY_DAMAGED, ERR_PARAMS where several serve equally
   */
  async resolveFor(kind: string, sectorSize: string): Promise<KeyInfo> {
    const circuit = `${kind} ${sectorSize}`;
    const serving = (await this.list()).filter((key) => servingRank(key, circuit) > 0);
    const best = Math.max(...serving.map((key) => servingRank(key, circuit)));
    const keys = serving.filter((key) => servingRank(key, circuit) === best);
    const whole = keys.filter(({ damage }) => damage === undefined);
    const [key, ...others] = whole.length > 0 ? whole : keys;
    if (key === undefined) throw new ProverError('ERR_KEY_UNKNOWN', { key: `for ${circuit}` });
    if (others.length > 0) {
      const names = [key, ...others].map(({ name }) => name).join(', ');
      const expected = `the one to use named: ${names} are all for ${circuit}`;
      throw new ProverError('ERR_PARAMS', { subject: 'key', expected, actual: 'none' });
    }
    return await this.resolve(key.digest);
  }

  /** Like `resolve`, also for a key whose file is damaged. */
  find(nameOrDigest: string): Promise<KeyInfo> {
    return storing('read', async () => {
      const { digest, record } = await this.#find(nameOrDigest);
      const names = (await this.#folder.names()).get(digest) ?? [];
      if (record !== undefined) return this.#info(record, names);
      throw damaged(nameOf(digest, names), 'a record', NO_RECORD);
    });
  }

  /**
   * Checks a key and stores it. What was imported before only gets the name, what is damaged or
   * was linked is replaced. Waits while another import runs.
   * @throws ERR_FORMAT, ERR_FILE, ERR_STORAGE, ERR_CANCELLED, ERR_KEY_DAMAGED for another digest
   *   than the promised one, ERR_PARAMS for a name that another key has
   */
  async import(path: string, options: ImportOptions, progress: Progress): Promise<KeyInfo> {
    const { name } = options;
    const wanted = { ...options, ...(options.digest && { digest: options.digest.toLowerCase() }) };
    if (name !== undefined && !isName(name)) {
      const expected = 'up to 128 letters, digits, dots, dashes and underscores';
      throw new ProverError('ERR_PARAMS', { subject: 'name', expected, actual: name });
    }
    if (wanted.digest !== undefined && !isDigest(wanted.digest)) {
      const expected = 'a SHA-256 in hex';
      throw new ProverError('ERR_PARAMS', { subject: 'digest', expected, actual: wanted.digest });
    }
    const store = { folder: this.#folder, inspector: this.#inspector };
    const work = async () => {
      const source = await sourceAt(path);
      const admit = (digest: string) => this.#checkFree(name, digest);
      const done = await this.#importedBefore(source, wanted);
      if (done !== undefined) await admit(done);
      const digest = done ?? (await new Import(store, source, wanted, progress).run(admit));
      if (name !== undefined) await this.#folder.giveName(name, digest);
      return await this.find(digest);
    };
    const { signal } = progress;
    return storing('write', () => this.#folder.importing(signal, work), signal);
  }

  /** Reads a stored key once more, byte for byte, and remembers what it finds. */
  verify(nameOrDigest: string, progress: Progress): Promise<Verification> {
    return storing(
      'read',
      async () => {
        const { digest, record } = await this.#find(nameOrDigest);
        const name = nameOf(digest, (await this.#folder.names()).get(digest));
        if (record === undefined) return { name, digest, damage: NO_RECORD };
        const path = this.#folder.pathOf(record);
        const damage = await this.#examine(record, path, progress);
        return { name, digest, path, ...(damage !== undefined && { damage }) };
      },
      progress.signal,
    );
  }

  /**
   * Removes a key and its names; a linked file stays where it is.
   * @param force also one that unsettled jobs need
   * @throws ERR_KEY_UNKNOWN, ERR_PARAMS, ERR_STORAGE
   */
  remove(nameOrDigest: string, force = false): Promise<Verification> {
    return storing('write', async () => {
      const { digest } = await this.#find(nameOrDigest);
      const jobs = force ? 0 : this.#needed(digest);
      if (jobs > 0) {
        const expected = 'one that no unsettled job needs (or --force)';
        const actual = `one that ${jobs} need${jobs === 1 ? 's' : ''}`;
        throw new ProverError('ERR_PARAMS', { subject: 'key', expected, actual });
      }
      const name = nameOf(digest, (await this.#folder.names()).get(digest));
      await this.#folder.remove(digest);
      return { name, digest };
    });
  }

  #read() {
    return storing('read', async () => {
      const names = await this.#folder.names();
      const keys: KeyInfo[] = [];
      const unreadable: string[] = [];
      for (const digest of await this.#folder.digests()) {
        const stored = await this.#folder.stored(digest);
        if (stored === undefined) continue;
        if (stored.record === undefined) unreadable.push(digest);
        else keys.push(await this.#info(stored.record, names.get(digest) ?? []));
      }
      return { keys, unreadable, names };
    });
  }

  async #info(record: KeyRecord, names: readonly string[]): Promise<KeyInfo> {
    const path = this.#folder.pathOf(record);
    const damage = record.damage ?? damageSeen(record, await factsOf(path));
    const name = nameOf(record.digest, names);
    return { ...record, names, name, path, ...(damage !== undefined && { damage }) };
  }

  async #find(nameOrDigest: string): Promise<Stored> {
    const digest =
      (await this.#folder.digestOf(nameOrDigest)) ?? (await this.#digest(nameOrDigest));
    const stored = digest === undefined ? undefined : await this.#folder.stored(digest);
    if (stored === undefined) throw new ProverError('ERR_KEY_UNKNOWN', { key: nameOrDigest });
    return stored;
  }

  async #digest(text: string): Promise<string | undefined> {
    const start = text.toLowerCase();
    if (isDigest(start)) return start;
    if (!PREFIX.test(start)) return undefined;
    const found = (await this.#folder.digests()).filter((digest) => digest.startsWith(start));
    return found.length === 1 ? found[0] : undefined;
  }

  async #checkFree(name: string | undefined, digest: string): Promise<void> {
    const holder = name === undefined ? undefined : await this.#folder.digestOf(name);
    if (name === undefined || holder === undefined || holder === digest) return;
    if ((await this.#folder.stored(holder)) === undefined) return;
    const actual = `${name}, which key ${holder.slice(0, 16)} has`;
    throw new ProverError('ERR_PARAMS', { subject: 'name', expected: 'a free name', actual });
  }

  /** The same file as at an earlier import, so far as metadata tell, and stored as wanted. */
  async #importedBefore(
    { path, bytes, modifiedMs, inode }: SourceFile,
    { link = false, full = false, digest }: ImportOptions,
  ): Promise<string | undefined> {
    for (const key of await this.list()) {
      const { source } = key;
      const same =
        source.path === path &&
        source.modifiedMs === modifiedMs &&
        source.inode === inode &&
        key.bytes === bytes;
      const asWanted =
        (link || !key.linked) &&
        (!full || key.points === 'checked') &&
        (digest === undefined || (digest === key.digest && key.points !== 'not checked'));
      if (same && asWanted && key.damage === undefined) return key.digest;
    }
    return undefined;
  }

  async #examine(record: KeyRecord, path: string, progress: Progress): Promise<string | undefined> {
    const facts = await factsOf(path);
    const seen = damageSeen(record, facts);
    if (facts === undefined || (seen !== undefined && seen !== CHANGED)) return seen;
    const ends = record.pieces.map(({ offset, length }) => offset + length);
    const read = await this.#inspector.digestKey(path, ends, progress);
    const damage = damageRead(record, read);
    const { damage: before, ...rest } = record;
    if (damage !== undefined) {
      // Where it cannot be noted, it is still said.
      await this.#folder.rewrite({ ...rest, damage }).catch(() => {});
    } else if (seen !== undefined || before !== undefined) {
      const { modifiedMs, inode } = facts;
      const source = rest.linked ? { ...rest.source, modifiedMs, inode } : rest.source;
      await this.#folder.rewrite({ ...rest, source, modifiedMs });
    }
    return damage;
  }
}

/** How well a key is known to be of a circuit; 0: not at all. */
function servingRank({ circuit, insecure }: KeyInfo, wanted: string): number {
  if (circuit === wanted) return insecure === undefined ? 3 : 2;
  return circuit === bySize(wanted) ? 1 : 0;
}

function nameOf(digest: string, names: readonly string[] = []): string {
  return names[0] ?? digest.slice(0, 16);
}

/** @throws ERR_FILE: only a file is a key, or a link to one */
async function sourceAt(path: string): Promise<SourceFile> {
  const facts = await factsOf(path);
  if (facts !== undefined) return { ...facts, path: resolvePath(path) };
  const reason = await stat(path).then(() => 'expected a file, got something else', systemReason);
  throw new ProverError('ERR_FILE', { path: basename(path), reason });
}
