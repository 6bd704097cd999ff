import { readFile } from 'node:fs/promises';
import { groth16 } from 'snarkjs';
import { afterAll, describe, expect, it, type TestContext } from 'vitest';
import { cpuReference } from '../../../backends/cpu-reference/backend.ts';
import type { ScalarVector } from '../../../src/backend/backend.ts';
import { openFile } from '../../../src/core/source.ts';
import { openKey } from '../../../src/formats/key-file.ts';
import { readR1cs } from '../../../src/formats/r1cs.ts';
import {
  parsePublicInputs,
  parseSnarkjsProof,
  parseVerificationKey,
  writePublicInputs,
  writeSnarkjsProof,
  writeVerificationKey,
} from '../../../src/formats/snarkjs-json.ts';
import { readWtns } from '../../../src/formats/wtns.ts';
import { drawBlinding } from '../../../src/groth16/blinding.ts';
import { verify } from '../../../src/groth16/verify.ts';
import type { FrCanonicalLE } from '../../../src/math/curve.ts';
import { firstUnsatisfied } from '../../../src/r1cs/satisfaction.ts';
import { WitnessValues } from '../../../src/r1cs/witness-values.ts';
import { endSnarkjs } from '../../support/end-snarkjs.ts';
import { prove } from '../../support/prove.ts';
import { vector } from '../../support/shared.ts';
import { scalarBytes, witnessOf } from '../../support/system.ts';

const { signal } = new AbortController();
const readJson = async (path: string) => JSON.parse(await readFile(path, 'utf8'));

afterAll(endSnarkjs);

/** Proves with a fresh blinding; our verifier and snarkjs must both accept. */
async function proveAndCheck(keyPath: string, witness: ScalarVector, inputs: FrCanonicalLE[]) {
  const { key } = await openKey(keyPath);
  const proof = await prove(
    cpuReference,
    key,
    { kind: 'witness', witness },
    drawBlinding(key.curve),
  );
  expect(await verify(key.verifyingKey, inputs, proof)).toEqual({ valid: true });
  const accepted = await groth16.verify(
    writeVerificationKey(key.verifyingKey),
    writePublicInputs(inputs),
    writeSnarkjsProof(proof),
  );
  expect(accepted).toBe(true);
}

describe.each([
  'circom-bn254/multiplier2',
  'circom-bn254/poseidon',
  'circom-bls12_381/multiplier2',
  'circom-bls12_381/poseidon',
])('%s', (set) => {
  const path = (context: TestContext, file: string) => vector(context, `${set}/${file}`);

  it('our proof is accepted by our verifier and by snarkjs', async (context) => {
    await using wtns = await openFile(path(context, 'witness.wtns'));
    const { count, offset, curve } = await readWtns(wtns);
    const inputs = parsePublicInputs(await readJson(path(context, 'public.json')), curve);
    const slice = { path: path(context, 'witness.wtns'), offset, length: 32 * count };
    await proveAndCheck(path(context, 'circuit.zkey'), { n: count, slice }, inputs);
  });

  it('the stored proof is valid, and invalid for a changed public input', async (context) => {
    const vk = parseVerificationKey(await readJson(path(context, 'verification_key.json')));
    const proof = parseSnarkjsProof(await readJson(path(context, 'circom.proof')), vk.curve);
    const [first, ...rest] = await readJson(path(context, 'public.json'));
    const stored = parsePublicInputs([first, ...rest], vk.curve);
    expect(await verify(vk, stored, proof)).toEqual({ valid: true });
    const changed = parsePublicInputs([`${BigInt(first) + 1n}`, ...rest], vk.curve);
    expect(await verify(vk, changed, proof)).toEqual({
      valid: false,
      reason: 'the pairing equation does not hold',
    });
  });

  it('the stored witness satisfies the circuit, and no longer when a wire changes', async (context) => {
    await using file = await openFile(path(context, 'circuit.r1cs'));
    await using wtns = await openFile(path(context, 'witness.wtns'));
    const circuit = await readR1cs(file);
    const { count, offset } = await readWtns(wtns);
    const values = new WitnessValues(wtns, offset, count);
    expect(await firstUnsatisfied(circuit, values, signal)).toBeUndefined();
    const wires = await Promise.all(Array.from({ length: count }, (_, wire) => values.at(wire)));
    const broken = wires.with(1, (wires[1] as bigint) + 1n);
    expect(await firstUnsatisfied(circuit, witnessOf(broken), signal)).toBeTypeOf('number');
  });
});

it('the witness of ark-circom satisfies its circuit', async (context) => {
  await using file = await openFile(vector(context, 'ark-circom/circuit2.r1cs'));
  await using wtns = await openFile(vector(context, 'ark-circom/witness.wtns'));
  const { count, offset } = await readWtns(wtns);
  const values = new WitnessValues(wtns, offset, count);
  expect(await firstUnsatisfied(await readR1cs(file), values, signal)).toBeUndefined();
});

/** Each of these keys is for a · b = c with wires 1, c, a, b. */
describe.each([
  'ark-circom/test.zkey',
  'circom-mopro/multiplier2_final.zkey',
  'circom-mopro/multiplier2_bls_final.zkey',
])('%s', (path) => {
  it('proves 3 · 11 = 33', async (context) => {
    const { key } = await openKey(vector(context, path));
    const wires = [1n, 33n, 3n, 11n];
    const texts = wires.slice(1, key.inputCount).map(String);
    await proveAndCheck(
      vector(context, path),
      { n: wires.length, bytes: scalarBytes(wires) },
      parsePublicInputs(texts, key.curve),
    );
  });
});
