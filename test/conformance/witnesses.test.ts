import { expect, it } from 'vitest';
import { toHex, writeBigIntLE } from '../../src/core/bytes.ts';
import { hashScalars } from '../../src/r1cs/program-hashes.ts';
import { GOLDEN_PROOFS, goldenJson } from '../support/vanilla.ts';
import {
  hashesOf,
  nativeHashesOf,
  partitionOf,
  withoutNativeSynthesis,
} from '../support/witnesses.ts';

const PARTITIONS = GOLDEN_PROOFS.flatMap((proof) =>
  Object.entries(proof.partitions).map(
    ([partition, file]) => [proof.name, Number(partition), file, proof] as const,
  ),
);

it.each(PARTITIONS)('%s, partition %i: is the reference’s', async (_, number, file, proof) => {
  const partition = await partitionOf(proof, number);
  const golden = goldenJson(file);
  // Of full-size circuits, the digest only.
  if (golden.inputs_hex === undefined) {
    expect(hashScalars(partition.publicInputs)).toBe(golden.public_inputs_sha256);
  } else expect(partition.publicInputs.map(hex)).toEqual(golden.inputs_hex);
  expect(golden).toMatchObject((await hashesOf(partition)) ?? { values: 'unsatisfied' });
  if (withoutNativeSynthesis) return;
  expect(golden).toMatchObject((await nativeHashesOf(partition)) ?? { native: 'unsatisfied' });
});

it('native code was compared too', (context) => {
  context.skip(withoutNativeSynthesis, 'the native backend is not built');
});

function hex(value: bigint): string {
  return toHex(writeBigIntLE(value, 32));
}
