import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { nativeMultiples } from '../../backends/cpu/multiples.ts';
import { ProverError } from '../core/errors.ts';
import { openFile } from '../core/source.ts';
import { writeParameters } from '../formats/bellman.ts';
import { readR1cs } from '../formats/r1cs.ts';
import { writeZkey } from '../formats/zkey.ts';
import { type KeyContent, setup as setUpKey } from '../groth16/setup.ts';
import { drawToxicWaste, toxicWasteFromSeed } from '../groth16/toxic-waste.ts';
import { digestFile } from './digest.ts';
import { DEVELOPMENT_KEY, writeKeyMetadata } from './key-metadata.ts';
import type { SetupParams, SetupResult } from './protocol.ts';
import type { Call } from './server.ts';

/**
 * Makes a development key from a circuit. The file appears whole or not at all. @throws ERR_FORMAT,
 * ERR_FILE
 */
export async function setup(params: SetupParams, call: Call): Promise<SetupResult> {
  await using source = await openFile(params.r1csPath);
  const circuit = await readR1cs(source);
  if (params.format === 'bellman' && circuit.curve !== 'bls12-381') {
    throw new ProverError('ERR_PARAMS', {
      subject: 'format',
      expected: `zkey for a circuit over ${circuit.curve}`,
      actual: 'bellman, which is for BLS12-381',
    });
  }
  const waste =
    params.seed === undefined
      ? drawToxicWaste(circuit.curve)
      : toxicWasteFromSeed(circuit.curve, params.seed);
  const multiplesOf = nativeMultiples(availableParallelism());
  const content = await setUpKey(circuit, {
    format: params.format,
    waste,
    signal: call.signal,
    ...(multiplesOf === undefined ? {} : { multiplesOf }),
    progress: (done, total) => call.progress(done / total),
  });
  const bytes = await writeWhole(params.outPath, encode(content));
  const digest = await digestFile(params.outPath, call.signal);
  const origin = `proofline setup of ${source.name}`;
  await writeKeyMetadata(params.outPath, { digest, insecure: DEVELOPMENT_KEY, origin });
  return {
    path: params.outPath,
    digest,
    bytes,
    constraints: circuit.constraintCount,
    insecure: DEVELOPMENT_KEY,
  };
}

function encode(content: KeyContent): AsyncIterable<Uint8Array> {
  const { rows } = content;
  return rows === undefined ? writeParameters(content) : writeZkey({ ...content, rows });
}

/** @returns the size of the file */
async function writeWhole(path: string, content: AsyncIterable<Uint8Array>): Promise<number> {
  const partial = `${path}.${randomUUID()}.partial`;
  let bytes = 0;
  try {
    const file = await open(partial, 'wx').catch((cause: NodeJS.ErrnoException) => {
      throw new ProverError('ERR_FILE', { path, reason: cause.code ?? 'cannot be written' }, cause);
    });
    try {
      for await (const chunk of content) {
        await file.writeFile(chunk);
        bytes += chunk.length;
      }
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(partial, path);
  } catch (thrown) {
    await rm(partial, { force: true });
    throw thrown;
  }
  return bytes;
}
