import { expect, it } from 'vitest';
import { hashScalars } from '../../src/r1cs/program-hashes.ts';
import { goldenJson, goldenProof } from '../support/vanilla.ts';
import { witnessOf } from '../support/witnesses.ts';

it('the partition of a 32 GiB PoRep has the reference’s witness', async () => {
  const { satisfied, hashes, publicInputs } = await witnessOf(goldenProof('porep-32gib'), 0);
  const golden = goldenJson('porep-32gib-0.witness.json');
  expect(golden).toMatchObject(hashes);
  expect(hashScalars(publicInputs)).toBe(golden.public_inputs_sha256);
  expect(satisfied).toBe(true);
});
