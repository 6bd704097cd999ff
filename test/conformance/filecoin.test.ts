import { describe, expect, it } from 'vitest';
import {
  knownParameters,
  knownProof,
  parameterDigests,
  withoutNative,
} from '../support/known-proof.ts';
import { goldenJson } from '../support/vanilla.ts';

/** SnapDeals and PoRep take a minute: test/large. */
describe.each([
  ['window-2kib', 'typescript'],
  ['winning-2kib', 'native'],
] as const)('%s', (name, scalars) => {
  it('has the reference’s parameters and proof, byte for byte', async (context) => {
    context.skip(withoutNative, 'the native backend is not built');
    const known = goldenJson(`${name}.known.json`);
    const key = await knownParameters(name, scalars);
    expect(known).toMatchObject(await parameterDigests(key));
    expect(await knownProof(name, key)).toBe(known.proof_hex);
  });
});
