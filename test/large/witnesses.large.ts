import { totalmem } from 'node:os';
import { describe, expect, it } from 'vitest';
import { GIB } from '../../src/core/units.ts';
import { hashScalars } from '../../src/r1cs/program-hashes.ts';
import { goldenJson, goldenProof } from '../support/vanilla.ts';
import {
  hashesOf,
  nativeHashesOf,
  partitionOf,
  withoutNativeSynthesis,
} from '../support/witnesses.ts';

it('the partition of a 32 GiB PoRep has the reference’s witness', async () => {
  const partition = await partitionOf(goldenProof('porep-32gib'), 0);
  const golden = goldenJson('porep-32gib-0.witness.json');
  expect(golden).toMatchObject((await hashesOf(partition)) ?? { values: 'unsatisfied' });
  expect(hashScalars(partition.publicInputs)).toBe(golden.public_inputs_sha256);
});

/** Bytes that the values take: 99 % of WindowPoSt's are full-size, 4 GB for each vector. */
const NATIVE = { 'porep-32gib': 2 * GIB, 'winning-32gib': GIB, 'window-32gib': 20 * GIB };

describe.each(Object.entries(NATIVE))('%s', (name, bytes) => {
  it('has the reference’s witness by native code', async (context) => {
    context.skip(withoutNativeSynthesis, 'the native backend is not built');
    context.skip(totalmem() < bytes, `takes ${bytes / GIB} GiB of memory`);
    const proof = goldenProof(name);
    const golden = goldenJson(proof.partitions[0] as string);
    const partition = await partitionOf(proof, 0);
    expect(hashScalars(partition.publicInputs)).toBe(golden.public_inputs_sha256);
    expect(golden).toMatchObject((await nativeHashesOf(partition)) ?? { values: 'unsatisfied' });
  });
});
