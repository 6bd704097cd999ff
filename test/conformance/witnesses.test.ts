import { expect, it } from 'vitest';
import { toHex, writeBigIntLE } from '../../src/core/bytes.ts';
import { hashScalars } from '../../src/r1cs/program-hashes.ts';
import { GOLDEN_PROOFS, goldenJson } from '../support/vanilla.ts';
import { witnessOf } from '../support/witnesses.ts';

const PARTITIONS = GOLDEN_PROOFS.flatMap((proof) =>
  Object.entries(proof.partitions).map(
    ([partition, file]) => [proof.name, Number(partition), file, proof] as const,
  ),
);

it.each(PARTITIONS)('%s, partition %i: is the reference’s', async (_, partition, file, proof) => {
  const { satisfied, hashes, publicInputs } = await witnessOf(proof, partition);
  const golden = goldenJson(file);
  expect(golden).toMatchObject(hashes);
  // Of full-size circuits, the digest only.
  if (golden.inputs_hex === undefined) {
    expect(hashScalars(publicInputs)).toBe(golden.public_inputs_sha256);
  } else expect(publicInputs.map(hex)).toEqual(golden.inputs_hex);
  expect(satisfied).toBe(true);
});

function hex(value: bigint): string {
  return toHex(writeBigIntLE(value, 32));
}
