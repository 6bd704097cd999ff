import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { assert } from '../../src/core/assert.ts';
import { writeParameters } from '../../src/formats/bellman.ts';
import { openKey } from '../../src/formats/key-file.ts';
import { writeZkey } from '../../src/formats/zkey.ts';
import { type KeyContent, setup } from '../../src/groth16/setup.ts';
import type { ToxicWaste } from '../../src/groth16/toxic-waste.ts';
import type { ProvingKeySource } from '../../src/groth16/types.ts';
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
