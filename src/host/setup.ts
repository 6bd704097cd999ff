import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { nativeMultiples } from '../../backends/cpu/multiples.ts';
import { nativeSetupScalars } from '../../backends/cpu/setup-scalars.ts';
import { programOf } from '../circuits/filecoin/circuits.ts';
import { sectorConfig } from '../circuits/filecoin/sector-size.ts';
import { ProverError } from '../core/errors.ts';
import { openFile } from '../core/source.ts';
import { verifyingKeyPath, writeParameters, writeVerifyingKey } from '../formats/bellman.ts';
import { readR1cs } from '../formats/r1cs.ts';
import { writeZkey } from '../formats/zkey.ts';
import { type KeyContent, setup as setUpKey } from '../groth16/setup.ts';
import type { SetupScalarsOf } from '../groth16/setup-scalars.ts';
import { drawToxicWaste, toxicWasteFromSeed } from '../groth16/toxic-waste.ts';
import type { ConstraintSystemSource } from '../r1cs/constraint-system.ts';
import { readProgram } from '../r1cs/program.ts';
import { systemOf } from '../r1cs/program-system.ts';
import { digestFile } from './digest.ts';
import { DEVELOPMENT_KEY, writeKeyMetadata } from './key-metadata.ts';
import type { FilecoinCircuit, SetupParams, SetupResult } from './protocol.ts';
import type { Call } from './server.ts';

/** Of Filecoin's circuits: what fits into a heap of 4 GB, and natively into some 16 GB. */
const ROWS_MAX = { typescript: 2 ** 23, native: 2 ** 26 } as const;

/**
 * Makes a development key from a circuit. Each file appears whole or not at all.
 * @throws ERR_FORMAT, ERR_FILE
 */
export async function setup(params: SetupParams, call: Call): Promise<SetupResult> {
  const { circuit, outPath } = params;
  if ('r1csPath' in circuit) {
    await using source = await openFile(circuit.r1csPath);
    return await makeKey(await readR1cs(source), params, call, { origin: source.name });
  }
  const { kind, sectorSize } = circuit;
  const program = programOf(kind, sectorConfig(sectorSize));
  const system = systemOf(readProgram(program));
  const name = circuitName(circuit);
  const scalarsOf = nativeSetupScalars(program, availableParallelism());
  const rows = system.constraintCount + system.inputCount;
  const rowsMax = scalarsOf === undefined ? ROWS_MAX.typescript : ROWS_MAX.native;
  if (rows > rowsMax) {
    const expected = `one of at most ${rowsMax} rows`;
    throw new ProverError('ERR_PARAMS', { subject: 'circuit', expected, actual: `${rows}` });
  }
  const made = await makeKey(system, params, call, {
    ...{ origin: name, circuit: name },
    ...(scalarsOf === undefined ? {} : { scalarsOf }),
  });
  return { ...made, verifyingKeyPath: verifyingKeyPath(outPath) };
}

/** As keys are labelled with it. */
export function circuitName({ kind, sectorSize }: FilecoinCircuit): string {
  return `${kind} ${sectorSize}`;
}

async function makeKey(
  system: ConstraintSystemSource,
  { format, outPath, seed }: SetupParams,
  call: Call,
  made: {
    readonly origin: string;
    readonly circuit?: string;
    readonly scalarsOf?: SetupScalarsOf;
  },
): Promise<SetupResult> {
  const { curve } = system;
  const { origin, circuit, scalarsOf } = made;
  if (format === 'bellman' && curve !== 'bls12-381') {
    const expected = `zkey for a circuit over ${curve}`;
    const actual = 'bellman, which is for BLS12-381';
    throw new ProverError('ERR_PARAMS', { subject: 'format', expected, actual });
  }
  const waste = seed === undefined ? drawToxicWaste(curve) : toxicWasteFromSeed(curve, seed);
  const multiplesOf = nativeMultiples(availableParallelism());
  const content = await setUpKey(system, {
    ...{ format, waste, signal: call.signal },
    ...(multiplesOf === undefined ? {} : { multiplesOf }),
    ...(scalarsOf === undefined ? {} : { scalarsOf }),
    progress: (share) => call.progress(share),
  });
  const bytes = await writeWhole(outPath, encode(content));
  if (circuit !== undefined) {
    await writeWhole(verifyingKeyPath(outPath), writeVerifyingKey(content));
  }
  const digest = await digestFile(outPath, call.signal);
  await writeKeyMetadata(outPath, {
    ...{ digest, insecure: DEVELOPMENT_KEY, origin: `proofline setup of ${origin}` },
    ...(circuit !== undefined && { circuit }),
  });
  const constraints = system.constraintCount;
  return { path: outPath, digest, bytes, constraints, insecure: DEVELOPMENT_KEY };
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
