import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { cpuBackend } from '../../backends/cpu/backend.ts';
import { nativeMultiples } from '../../backends/cpu/multiples.ts';
import { nativeSetupScalars } from '../../backends/cpu/setup-scalars.ts';
import { programOf } from '../../src/circuits/filecoin/circuits.ts';
import { sectorConfig } from '../../src/circuits/filecoin/sector-size.ts';
import { toHex } from '../../src/core/bytes.ts';
import { writeProof } from '../../src/formats/bellman.ts';
import { openKey } from '../../src/formats/key-file.ts';
import { setup } from '../../src/groth16/setup.ts';
import type { PointQuery } from '../../src/groth16/types.ts';
import { verify } from '../../src/groth16/verify.ts';
import { Partition, Programs } from '../../src/host/partition.ts';
import { readProgram } from '../../src/r1cs/program.ts';
import { systemOf } from '../../src/r1cs/program-system.ts';
import { keyBytes, temporaryPath } from './key-files.ts';
import { knownBlinding, knownWaste } from './known.ts';
import { prove } from './prove.ts';
import { golden } from './shared.ts';
import { goldenBytes, goldenProof, goldenStatement } from './vanilla.ts';

const { signal } = new AbortController();

/** Native code is what makes keys and proofs of these circuits in seconds. */
export const withoutNative = nativeMultiples(2) === undefined;

/**
 * The parameters that golden's secrets make of a circuit of 2 KiB, in a file.
 * @param scalars what computes the points' logarithms
 */
export async function knownParameters(
  name: string,
  scalars: 'native' | 'typescript',
): Promise<string> {
  const { kind, proof } = goldenStatement(name);
  const program = programOf(kind, sectorConfig(proof.sectorSize));
  const multiplesOf = nativeMultiples(2);
  const scalarsOf = scalars === 'native' ? nativeSetupScalars(program, 2) : undefined;
  if (multiplesOf === undefined) throw new Error('expected the native backend');
  const content = await setup(systemOf(readProgram(program)), {
    ...{ format: 'bellman', waste: knownWaste(), signal, multiplesOf },
    ...(scalarsOf === undefined ? {} : { scalarsOf }),
  });
  const path = await temporaryPath(`${name}.params`);
  await writeFile(path, keyBytes(content));
  return path;
}

/** Digests as `*.known.json` has them, so that a difference shows in which query it is. */
export async function parameterDigests(path: string) {
  const { key } = await openKey(path);
  const of = ({ slice }: PointQuery) => sha256(path, slice.offset, slice.offset + slice.length);
  return {
    ...{ h_sha256: await of(key.h), l_sha256: await of(key.l), a_sha256: await of(key.a) },
    ...{ b_g1_sha256: await of(key.bG1), b_g2_sha256: await of(key.bG2) },
    vk_sha256: await sha256(path, 0, key.h.slice.offset - 4),
    params_sha256: await sha256(path, 0, Number.POSITIVE_INFINITY),
  };
}

async function sha256(path: string, start: number, end: number): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { start, end: end - 1 }), hash);
  return hash.digest('hex');
}

/** The proof of golden's statement by golden's (r, s), verified; hex. */
export async function knownProof(name: string, keyPath: string): Promise<string> {
  const vanilla: { path: string }[] = [];
  for (const file of goldenProof(name).vanilla) {
    const path = await temporaryPath('vanilla');
    await writeFile(path, goldenBytes(file));
    vanilla.push({ path });
  }
  const statement = { path: golden(`${name}.statement.json`) };
  const partition = await Partition.read({ statement, vanilla, partition: 0 }, signal);
  const { key } = await openKey(keyPath);
  const { input, publicInputs } = partition.assignment(key, new Programs());
  const proof = await prove(cpuBackend, key, input, knownBlinding(), false);
  const verdict = await verify(key.verifyingKey, publicInputs, proof);
  if (!verdict.valid) throw new Error(verdict.reason);
  return toHex(writeProof(proof));
}
