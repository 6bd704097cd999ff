import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { writeWtns } from '../../src/formats/wtns.ts';
import { setup } from '../../src/groth16/setup.ts';
import { drawToxicWaste } from '../../src/groth16/toxic-waste.ts';
import { curveOf } from '../../src/math/curve.ts';
import { proofline } from './command.ts';
import { keyBytes } from './key-files.ts';
import { scalarBytes, systemOf } from './system.ts';

const SQUARINGS = 4;

/** first, first^2, first^4, ...: the first of them is public. */
function squares(first: bigint) {
  const { r } = curveOf('bn254');
  const values = [1n, first];
  const rows = Array.from({ length: SQUARINGS }, (_, i) => {
    const value = values[i + 1] as bigint;
    values.push((value * value) % r);
    const from = [{ wire: i + 1, coefficient: 1n }];
    return { a: from, b: from, c: [{ wire: i + 2, coefficient: 1n }] };
  });
  return { system: systemOf('bn254', 2, SQUARINGS, rows), values };
}

/** A zkey of a few constraints, and witnesses for it, each of another statement. */
export async function chainKey(path: string): Promise<void> {
  const { system } = squares(3n);
  const { signal } = new AbortController();
  const waste = drawToxicWaste('bn254');
  await writeFile(path, keyBytes(await setup(system, { format: 'zkey', waste, signal })));
}

/** Puts such a key into a data folder, as `chain`. */
export async function keepChainKey(dataDir: string): Promise<void> {
  const path = join(dataDir, 'chain.zkey');
  await chainKey(path);
  const kept = await proofline(['keys', 'import', path, '--data-dir', dataDir]);
  if (kept.code !== 0) throw new Error(kept.stderr);
}

export async function chainWitness(folder: string, first: bigint): Promise<string> {
  const { values } = squares(first);
  const path = join(folder, `witness-${first}.wtns`);
  const records = { count: values.length, bytes: [scalarBytes(values)] };
  await writeFile(path, writeWtns('bn254', records));
  return path;
}
