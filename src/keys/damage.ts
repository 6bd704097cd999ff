import { stat } from 'node:fs/promises';
import type { DigestKeyResult } from '../host/protocol.ts';
import type { KeyRecord } from './stored-key.ts';

/** What a file's metadata say, without reading it. */
export interface FileFacts {
  readonly bytes: number;
  readonly modifiedMs: number;
  readonly inode: number;
}

/** Undefined where there is no such file, or something else than a file. */
export async function factsOf(path: string): Promise<FileFacts | undefined> {
  const info = await stat(path).catch(() => undefined);
  if (info?.isFile() !== true) return undefined;
  return { bytes: info.size, modifiedMs: info.mtimeMs, inode: info.ino };
}

/** What is wrong with a key's file so far as its metadata tell. */
export function damageSeen(record: KeyRecord, facts: FileFacts | undefined): string | undefined {
  if (facts === undefined) return 'no file';
  const { bytes, modifiedMs, inode } = facts;
  if (bytes < record.bytes) {
    return `a file that ends after ${bytes} of ${record.bytes} bytes, in ${partAt(record, bytes)}`;
  }
  if (bytes > record.bytes) return `a file of ${bytes} bytes instead of ${record.bytes}`;
  if (modifiedMs !== record.modifiedMs || (record.linked && inode !== record.source.inode)) {
    return CHANGED;
  }
  return undefined;
}

/** Only reading the file tells whether it is another one. */
export const CHANGED =
  'a file that was changed or replaced since (`proofline keys verify` reads it)';

/** What is wrong with the bytes of a key's file, and where. */
export function damageRead(record: KeyRecord, read: DigestKeyResult): string | undefined {
  if (read.digest === record.digest) return undefined;
  const bad = record.pieces.filter(({ crc32 }, i) => crc32 !== read.crcs[i]);
  const [first] = bad;
  if (first === undefined) return 'other bytes';
  const { part, offset, length } = first;
  const place = `other bytes in ${part}, between ${offset} and ${offset + length}`;
  return bad.length === 1 ? place : `${place}, and in ${bad.length - 1} more pieces`;
}

function partAt({ pieces }: KeyRecord, at: number): string {
  return pieces.find(({ offset, length }) => at < offset + length)?.part ?? 'no part';
}
