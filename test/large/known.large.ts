import { describe, expect, it } from 'vitest';
import {
  knownParameters,
  knownProof,
  parameterDigests,
  withoutNative,
} from '../support/known-proof.ts';
import { goldenJson } from '../support/vanilla.ts';

/** The smaller ones of the four: test/conformance/filecoin.test.ts. */
describe.each(['snap-2kib', 'porep-2kib'])('%s', (name) => {
  it('has the reference’s parameters and proof, byte for byte', async (context) => {
    context.skip(withoutNative, 'the native backend is not built');
    const known = goldenJson(`${name}.known.json`);
    const key = await knownParameters(name, 'native');
    expect(known).toMatchObject(await parameterDigests(key));
    expect(await knownProof(name, key)).toBe(known.proof_hex);
  });
});
