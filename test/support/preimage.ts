import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { WitnessCalculatorBuilder } from 'circom_runtime';
import { proofline } from './command.ts';

const EXAMPLE = 'examples/preimage';

/** Puts a key of the example circuit into a data folder, as `preimage`. */
export async function keepPreimageKey(dataDir: string): Promise<void> {
  const setup = ['setup', '--r1cs', `${EXAMPLE}/preimage.r1cs`, '--name', 'preimage'];
  const out = ['--out', join(dataDir, 'preimage.zkey'), '--data-dir', dataDir];
  const made = await proofline([...setup, ...out]);
  if (made.code !== 0) throw new Error(made.stderr);
}

/** A witness of the example circuit. The reference backend proves it in a second or two. */
export async function preimageWitness(x: bigint, salt = 1n): Promise<Uint8Array> {
  const calculator = await WitnessCalculatorBuilder(await readFile(`${EXAMPLE}/preimage.wasm`));
  return calculator.calculateWTNSBin({ x: String(x), salt: String(salt) }, true);
}
