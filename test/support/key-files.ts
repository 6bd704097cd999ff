import { copyFile, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { assert } from '../../src/core/assert.ts';
import { writeParameters } from '../../src/formats/bellman.ts';
import { openKey } from '../../src/formats/key-file.ts';
import { writeZkey } from '../../src/formats/zkey.ts';
import { type KeyContent, setup } from '../../src/groth16/setup.ts';
import type { ToxicWaste } from '../../src/groth16/toxic-waste.ts';
import type { PointQuery, ProvingKeySource } from '../../src/groth16/types.ts';
import type { ConstraintSystemSource } from '../../src/r1cs/constraint-system.ts';

let folder: Promise<string> | undefined;
let files = 0;

/** A path in a folder that is removed after the last test of the file. */
export async function temporaryPath(name: string): Promise<string> {
  folder ??= mkdtemp(join(tmpdir(), 'proofline-test-'));
  return join(await folder, `${files++}-${name}`);
}

afterAll(async () => {
  if (folder !== undefined) await rm(await folder, { recursive: true });
  folder = undefined;
});

/** A copy of the key whose file holds other bytes from one offset on. */
export async function withBytes(
  key: ProvingKeySource,
  offset: number,
  bytes: Uint8Array,
): Promise<ProvingKeySource> {
  const path = await temporaryPath('changed');
  await copyFile(key.h.slice.path, path);
  const file = await open(path, 'r+');
  await file.write(bytes, 0, bytes.length, offset);
  await file.close();
  const moved = (query: PointQuery) => ({ ...query, slice: { ...query.slice, path } });
  return {
    ...key,
    ...{ h: moved(key.h), l: moved(key.l), a: moved(key.a) },
    ...{ bG1: moved(key.bG1), bG2: moved(key.bG2) },
    ...(key.rows && { rows: moved(key.rows) }),
  };
}

export type QueryName = 'h' | 'l' | 'a' | 'bG1' | 'bG2';

/** A copy of the key with other bytes for the last point of a query. */
export function withPoint(
  key: ProvingKeySource,
  name: QueryName,
  point: Uint8Array,
): Promise<ProvingKeySource> {
  const { offset, length } = key[name].slice;
  return withBytes(key, offset + length - point.length, point);
}

/** A development key for the system, as a file and read back from it. */
export async function developmentKey(
  system: ConstraintSystemSource,
  format: ProvingKeySource['format'],
  waste: ToxicWaste,
): Promise<ProvingKeySource> {
  const { signal } = new AbortController();
  const path = await temporaryPath(`${system.curve}.${format}`);
  await writeFile(path, keyBytes(await setup(system, { format, waste, signal })));
  return (await openKey(path)).key;
}

export function keyBytes(content: KeyContent): AsyncGenerator<Uint8Array> {
  if (content.format === 'bellman') return writeParameters(content);
  assert(content.rows !== undefined, 'zkey: expected rows');
  return writeZkey({ ...content, rows: content.rows });
}
