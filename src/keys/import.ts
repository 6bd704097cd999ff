import { basename } from 'node:path';
import { formatError, ProverError } from '../core/errors.ts';
import {
  type OfficialKey,
  officialByDigest,
  officialByName,
  officialBySize,
} from '../formats/official-keys.ts';
import type { DigestKeyResult, InspectedKey } from '../host/protocol.ts';
import { copyHashed } from './copy.ts';
import { damageSeen, type FileFacts, factsOf } from './damage.ts';
import type { KeyFolder } from './folder.ts';
import type { KeyRecord, PointCheck } from './stored-key.ts';

/** More points are checked on request only. */
const POINTS_CHECKED_MAX = 1_000_000;

export interface Progress {
  readonly signal: AbortSignal;
  readonly onProgress?: (share: number) => void;
}

/** What the store has others do, in a device host. */
export interface KeyInspector {
  inspect(path: string, options: Progress): Promise<InspectedKey>;
  /** @param ends where the pieces end that get a CRC-32 each */
  digestKey(path: string, ends: readonly number[], options: Progress): Promise<DigestKeyResult>;
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

export interface SourceFile extends FileFacts {
  readonly path: string;
}

/** One file on its way into the store. */
export class Import {
  readonly #folder: KeyFolder;
  readonly #inspector: KeyInspector;
  readonly #source: SourceFile;
  readonly #options: ImportOptions;
  readonly #progress: Progress;

  constructor(
    store: { readonly folder: KeyFolder; readonly inspector: KeyInspector },
    source: SourceFile,
    options: ImportOptions,
    progress: Progress,
  ) {
    this.#folder = store.folder;
    this.#inspector = store.inspector;
    this.#source = source;
    this.#options = options;
    this.#progress = progress;
  }

  /**
   * @param admit hears of the key's digest before the long work
   * @returns the digest of the key, which is stored
   */
  async run(admit: (digest: string) => Promise<void>): Promise<string> {
    const source = this.#source;
    const facts = await this.#inspector.inspect(source.path, this.#part(0, 0.4));
    const official = this.#judge(facts);
    await admit(facts.digest);
    const known = (await this.#folder.stored(facts.digest))?.record;
    const kept = known !== undefined && (await this.#serves(known)) ? known : undefined;
    const file = kept === undefined && !this.#link ? await this.#copy(facts) : undefined;
    const path = kept === undefined ? (file ?? source.path) : this.#folder.pathOf(kept);
    const points = await this.#points(facts, path, official, known?.points);
    await this.#checkUnchanged();
    const insecure = facts.insecure ?? known?.insecure;
    const circuit = circuitOf({ ...facts, circuit: facts.circuit ?? known?.circuit }, official);
    await this.#folder.put(
      {
        ...(kept ?? (await this.#record(facts, file))),
        points,
        ...(insecure !== undefined && { insecure }),
        ...(circuit !== undefined && { circuit }),
        source: { path: source.path, modifiedMs: source.modifiedMs, inode: source.inode },
      },
      file,
    );
    return facts.digest;
  }

  get #link(): boolean {
    return this.#options.link === true;
  }

  /** Whether what is stored is whole and as wanted: no link where a copy is, nor to elsewhere. */
  async #serves(known: KeyRecord): Promise<boolean> {
    if (known.linked && !(this.#link && known.source.path === this.#source.path)) return false;
    const facts = await factsOf(this.#folder.pathOf(known));
    return known.damage === undefined && damageSeen(known, facts) === undefined;
  }

  /** Holds the file to the digest it should have. @returns which official file it is */
  #judge({ digest, blake2b }: InspectedKey): OfficialKey | undefined {
    const origin = basename(this.#source.path);
    const trusted = this.#options.digest;
    if (trusted !== undefined && trusted !== digest) {
      throw damaged(origin, `the digest ${trusted}`, digest);
    }
    const named = officialByName(origin);
    if (named !== undefined && named.blake2b !== blake2b) {
      throw damaged(origin, `the published BLAKE2b digest ${named.blake2b}`, blake2b);
    }
    return named ?? officialByDigest(blake2b);
  }

  async #copy({ digest, bytes }: InspectedKey): Promise<string> {
    const { signal, onProgress } = this.#part(0.4, 0.6);
    const file = await this.#folder.incoming();
    let done = 0;
    const copied = await copyHashed(this.#source, file, signal, (read) => {
      done += read;
      onProgress(Math.min(1, done / bytes));
    });
    if (copied !== digest) throw changed(this.#source.path);
    return file;
  }

  /** Checks the points where that is due. @param earlier what is known of a key of this digest */
  async #points(
    { digest, pointCount }: InspectedKey,
    path: string,
    official: OfficialKey | undefined,
    earlier: PointCheck = 'not checked',
  ): Promise<PointCheck> {
    if (earlier === 'checked') return earlier;
    if (this.#options.full !== true) {
      if (official !== undefined) return 'official file';
      if (earlier !== 'not checked') return earlier;
      if (this.#options.digest !== undefined) return 'trusted digest';
      if (pointCount > POINTS_CHECKED_MAX) return 'not checked';
    }
    try {
      await this.#inspector.checkKey(path, digest, this.#part(0.6, 1));
    } catch (thrown) {
      throw inFile(basename(this.#source.path), thrown);
    }
    return 'checked';
  }

  async #checkUnchanged(): Promise<void> {
    const { path, modifiedMs, inode, bytes } = this.#source;
    const now = await factsOf(path);
    const same = now?.modifiedMs === modifiedMs && now.inode === inode && now.bytes === bytes;
    if (!same) throw changed(path);
  }

  /** @param file the copy of the source; undefined for a link */
  async #record(
    { blake2b: _, pieces, ...facts }: InspectedKey,
    file: string | undefined,
  ): Promise<Omit<KeyRecord, 'points' | 'source'>> {
    const { modifiedMs } = (file === undefined ? undefined : await factsOf(file)) ?? this.#source;
    return {
      version: 1,
      ...facts,
      importedAt: new Date().toISOString(),
      linked: this.#link,
      modifiedMs,
      pieces: [...pieces],
    };
  }

  #part(from: number, to: number): Required<Progress> {
    const { signal, onProgress } = this.#progress;
    return { signal, onProgress: (share) => onProgress?.(from + (to - from) * share) };
  }
}

/** By the published digest, or as whoever made the key says, or by its size. */
function circuitOf(
  { format, bytes, circuit }: InspectedFacts,
  official: OfficialKey | undefined,
): string | undefined {
  if (official !== undefined) return nameOfCircuit(official);
  if (circuit !== undefined) return circuit;
  const found = format === 'bellman' ? officialBySize(bytes) : undefined;
  return found === undefined ? undefined : bySize(nameOfCircuit(found));
}

interface InspectedFacts extends Pick<InspectedKey, 'format' | 'bytes'> {
  readonly circuit: string | undefined;
}

function nameOfCircuit({ circuit, sectorSize }: OfficialKey): string {
  return `${circuit} ${sectorSize}`;
}

/** How a key is labelled of which only the size says what it is for. */
export function bySize(circuit: string): string {
  return `${circuit}, by its size`;
}

/** A point that was refused is one of this file, whatever its copy is called. */
function inFile(name: string, thrown: unknown): unknown {
  if (!(thrown instanceof ProverError) || thrown.code !== 'ERR_FORMAT') return thrown;
  const { subject, expected = '', actual = '' } = thrown.data;
  const place = String(subject).replace(/^key: /, '');
  return formatError(`${name}: ${place}`, String(expected), actual);
}

function changed(path: string): ProverError {
  return damaged(
    basename(path),
    'a file that stays as it is',
    'one that changed while it was read',
  );
}

export function damaged(key: string, expected: string, actual: string): ProverError {
  return new ProverError('ERR_KEY_DAMAGED', { key, expected, actual });
}
