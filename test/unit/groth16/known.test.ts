import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { cpuReference } from '../../../backends/cpu-reference/backend.ts';
import { fromHex, toHex } from '../../../src/core/bytes.ts';
import { openFile } from '../../../src/core/source.ts';
import { readProof, readVerifyingKey, writeProof } from '../../../src/formats/bellman.ts';
import { openKey } from '../../../src/formats/key-file.ts';
import { setup } from '../../../src/groth16/setup.ts';
import { verify } from '../../../src/groth16/verify.ts';
import type { FrCanonicalLE } from '../../../src/math/curve.ts';
import { expectedProof } from '../../support/dlog.ts';
import { evaluated } from '../../support/evaluated.ts';
import { keyBytes } from '../../support/key-files.ts';
import { knownBlinding, knownWaste } from '../../support/known.ts';
import { prove } from '../../support/prove.ts';
import { golden } from '../../support/shared.ts';
import { publicInputsOf, scalarBytes, tiny } from '../../support/system.ts';

const goldenJson = async (name: string) => JSON.parse(await readFile(golden(name), 'utf8'));

/** Parameters and proofs that bellperson 0.27.0 made from known secrets (test/golden/README.md). */
describe('the reference’s tiny circuit', () => {
  const example = tiny();

  it('has the same rows, assignment and evaluations', async () => {
    const facts = await goldenJson('tiny.json');
    const { constraintCount, inputCount, auxCount } = example.system;
    expect([constraintCount, inputCount, auxCount]).toEqual([
      facts.constraints,
      facts.inputs,
      facts.aux,
    ]);
    expect(sha256(scalarBytes(example.values))).toBe(facts.witness_sha256);
    const input = await evaluated(example);
    if (input.kind !== 'evaluated') throw new Error('expected evaluations');
    const sums = [input.a, input.b].map((v) => sha256('bytes' in v ? v.bytes : new Uint8Array()));
    expect(sums).toEqual([facts.a_evals_sha256, facts.b_evals_sha256]);
  });

  it('gives the same parameters, byte for byte', async () => {
    const content = await setup(example.system, {
      format: 'bellman',
      waste: knownWaste(),
      signal: new AbortController().signal,
    });
    const parts: Uint8Array[] = [];
    for await (const part of keyBytes(content)) parts.push(part);
    expect(Buffer.compare(Buffer.concat(parts), await readFile(golden('tiny.params')))).toBe(0);
  });

  it('gives the same proof, byte for byte', async () => {
    const { key } = await openKey(golden('tiny.params'));
    const proof = await prove(cpuReference, key, await evaluated(example), knownBlinding());
    expect(toHex(writeProof(proof))).toBe((await goldenJson('tiny.known.json')).proof_hex);
    expect(await verify(key.verifyingKey, publicInputsOf(example), proof)).toEqual({ valid: true });
  });

  it('gives the same proof by field arithmetic alone', async () => {
    const proof = await expectedProof(example, knownWaste(), 'monomial', knownBlinding());
    expect(toHex(writeProof(proof))).toBe((await goldenJson('tiny.known.json')).proof_hex);
  });
});

describe.each(['tiny', 'window-2kib', 'winning-2kib', 'snap-2kib', 'porep-2kib'])(
  'the reference’s proof of %s',
  (name) => {
    it('is valid, and invalid for any other statement', async () => {
      await using source = await openFile(golden(`${name}.vk`));
      const { verifyingKey } = await readVerifyingKey(source);
      const proof = readProof(name, await readFile(golden(`${name}.proof`)));
      const [, ...inputs] = (await goldenJson(`${name}.json`)).inputs_hex.map((hex: string) =>
        fromHex('input', hex),
      ) as FrCanonicalLE[];
      expect(await verify(verifyingKey, inputs, proof)).toEqual({ valid: true });
      (inputs[0] as FrCanonicalLE)[0] = ((inputs[0] as FrCanonicalLE)[0] as number) ^ 1;
      expect(await verify(verifyingKey, inputs, proof)).toMatchObject({ valid: false });
    });
  },
);

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
