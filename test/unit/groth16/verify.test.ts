import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { fromHex, viewOf } from '../../../src/core/bytes.ts';
import { ProverError } from '../../../src/core/errors.ts';
import { openFile } from '../../../src/core/source.ts';
import { readProof, readVerifyingKey } from '../../../src/formats/bellman.ts';
import { BLS_G1, BLS_G2, decompress } from '../../../src/formats/points.ts';
import {
  parsePublicInputs,
  parseSnarkjsProof,
  parseVerificationKey,
} from '../../../src/formats/snarkjs-json.ts';
import type { Proof, VerifyingKey } from '../../../src/groth16/types.ts';
import { declareChecked, verify } from '../../../src/groth16/verify.ts';
import {
  type CurveName,
  curveOf,
  type FrCanonicalLE,
  type G1Bytes,
} from '../../../src/math/curve.ts';
import { g1Of, g2Of, pointToBytes } from '../../../src/math/points.ts';
import { pointOutside } from '../../support/points.ts';
import { vector } from '../../support/shared.ts';
import { scalarBytes } from '../../support/system.ts';

const readJson = async (path: string) => JSON.parse(await readFile(path, 'utf8'));

/** A proof of nothing for a key of known logarithms: alpha·beta = a·b - x·gamma - c·delta. */
function toy(curve: CurveName): { vk: VerifyingKey; inputs: FrCanonicalLE[]; proof: Proof } {
  const [g1, g2] = [g1Of(curve), g2Of(curve)];
  const p = (log: bigint) => pointToBytes(g1, g1.Point.BASE.multiplyUnsafe(log));
  const q = (log: bigint) => pointToBytes(g2, g2.Point.BASE.multiplyUnsafe(log));
  return {
    vk: {
      ...{ curve, alphaG1: p(2n), betaG2: q(3n), gammaG2: q(5n), deltaG2: q(7n) },
      ic: [p(0n), p(1n)],
    },
    inputs: [scalarBytes([4n]) as FrCanonicalLE],
    proof: { curve, a: p(11n), b: q(3n), c: p(1n) },
  };
}

it('adds up thousands of inputs, small ones and large ones', async () => {
  const { vk, proof } = toy('bls12-381');
  const { r, noble } = curveOf('bls12-381');
  const g1 = g1Of('bls12-381');
  const count = 2100;
  const logs = Array.from({ length: count }, (_, i) => BigInt(i % 7));
  const values = logs.map((_, i) => (i % 97 === 0 ? r - BigInt(i + 1) : BigInt(i) << 20n));
  const points = Array.from({ length: 7 }, (_, i) =>
    pointToBytes(g1, g1.Point.BASE.multiplyUnsafe(BigInt(i))),
  );
  const sum = logs.reduce((total, log, i) => total + log * (values[i] as bigint), 0n) % r;
  const first = noble.fields.Fr.create(4n - sum);
  const constant = pointToBytes(g1, g1.Point.BASE.multiplyUnsafe(first));
  const many = { ...vk, ic: [constant, ...logs.map((log) => points[Number(log)] as G1Bytes)] };
  const inputs = values.map((value) => scalarBytes([value]) as FrCanonicalLE);
  expect(await verify(declareChecked(many), inputs, proof)).toEqual({ valid: true });
  const other = inputs.with(1, scalarBytes([5n]) as FrCanonicalLE);
  expect(await verify(many, other, proof)).toMatchObject({ valid: false });
});

describe.each(['bn254', 'bls12-381'] as const)('verify on %s', (curve) => {
  const { vk, inputs, proof } = toy(curve);
  const { r } = curveOf(curve);
  const changed = <T extends Uint8Array>(bytes: T, at = bytes.length - 1): T => {
    const copy = bytes.slice() as T;
    copy[at] = (copy[at] as number) ^ 1;
    return copy;
  };

  it('accepts what satisfies the equation, and only that', async () => {
    expect(await verify(vk, inputs, proof)).toEqual({ valid: true });
    const other = { valid: false, reason: 'the pairing equation does not hold' };
    expect(await verify(vk, [scalarBytes([5n]) as FrCanonicalLE], proof)).toEqual(other);
    expect(await verify(vk, inputs, { ...proof, a: proof.c })).toEqual(other);
    expect(await verify(vk, inputs, { ...proof, b: vk.gammaG2 })).toEqual(other);
    expect(await verify({ ...vk, alphaG1: proof.a }, inputs, proof)).toEqual(other);
  });

  it.each(['a', 'b', 'c'] as const)('refuses infinity as %s', async (name) => {
    const infinite = { ...proof, [name]: new Uint8Array(proof[name].length) };
    expect(await verify(vk, inputs, infinite)).toEqual({
      valid: false,
      reason: `proof.${name}: expected a finite point, got infinity`,
    });
  });

  it.each(['a', 'b', 'c'] as const)('calls a point %s off the curve malformed', async (name) => {
    const verdict = await verify(vk, inputs, { ...proof, [name]: changed(proof[name]) });
    expect(verdict).toMatchObject({ valid: false, malformed: { code: 'ERR_FORMAT' } });
    expect('reason' in verdict && verdict.reason).toContain(`proof.${name}`);
  });

  it('calls a point of the curve outside the group malformed', async () => {
    const outside = pointToBytes(g2Of(curve), pointOutside(g2Of(curve)));
    const verdict = await verify(vk, inputs, { ...proof, b: outside });
    expect('reason' in verdict && verdict.reason).toContain('outside the group');
  });

  it('calls coordinates and inputs that are not canonical malformed', async () => {
    const { q, fpBytes } = curveOf(curve);
    const x = BigInt(`0x${Buffer.from(proof.a.subarray(0, fpBytes)).toString('hex')}`);
    const a = proof.a.slice() as typeof proof.a;
    const tooLarge = (x + q).toString(16).padStart(2 * fpBytes, '0');
    // The same point, written with x + q.
    a.set(Buffer.from(tooLarge, 'hex'));
    expect(await verify(vk, inputs, { ...proof, a })).toMatchObject({ malformed: {} });
    const input = scalarBytes([4n + r]) as FrCanonicalLE;
    expect(await verify(vk, [input], proof)).toMatchObject({ malformed: {} });
    const short = new Uint8Array(31) as FrCanonicalLE;
    expect(await verify(vk, [short], proof)).toMatchObject({ malformed: {} });
  });

  it('asks for the key’s number of inputs and its curve', async () => {
    const [input] = inputs as [FrCanonicalLE];
    expect(await verify(vk, [], proof)).toMatchObject({
      reason: 'public inputs: expected 1 of them, got 0',
      malformed: {},
    });
    expect(await verify(vk, [input, input], proof)).toMatchObject({ malformed: {} });
    const other = toy(curve === 'bn254' ? 'bls12-381' : 'bn254').proof;
    expect(await verify(vk, inputs, other)).toMatchObject({ malformed: {} });
  });

  it.each(['alphaG1', 'betaG2', 'gammaG2', 'deltaG2'] as const)(
    'refuses a verifying key with a bad %s',
    async (name) => {
      const infinite = { ...vk, [name]: new Uint8Array(vk[name].length) };
      await expect(verify(infinite, inputs, proof)).rejects.toThrow('a finite point');
      const off = { ...vk, [name]: changed(vk[name]) };
      await expect(verify(off, inputs, proof)).rejects.toMatchObject({ code: 'ERR_FORMAT' });
    },
  );
});

describe('verification cases of circom-bn254/poseidon', () => {
  interface Case {
    readonly name: string;
    readonly expect: string;
    readonly public: unknown;
    readonly proof: unknown;
  }

  const answerOf = async (vk: VerifyingKey, { proof, public: inputs }: Case): Promise<string> => {
    try {
      const verdict = await verify(
        vk,
        parsePublicInputs(inputs, vk.curve),
        parseSnarkjsProof(proof, vk.curve),
      );
      if (verdict.valid) return 'valid';
      return verdict.malformed === undefined ? 'invalid' : 'error';
    } catch (thrown) {
      if (thrown instanceof ProverError && thrown.spec.exit === 2) return 'error';
      throw thrown;
    }
  };

  it('gets the listed answer for each', async (context) => {
    const { vk_file, cases } = await readJson(
      vector(context, 'derived-verify/bn254-poseidon-verify-cases.json'),
    );
    const vk = parseVerificationKey(await readJson(vector(context, vk_file)));
    expect(cases.length).toBe(11);
    for (const one of cases as Case[]) {
      const answer = await answerOf(vk, one);
      if (one.name === 'v11-public-hex') expect(['valid', 'error']).toContain(answer);
      else expect(`${one.name}: ${one.expect}`).toMatch(new RegExp(`: ${answer}\\b`));
    }
  });
});

describe('proofs of other BLS12-381 provers', () => {
  const scalarsOf = (decimals: string[]) => parsePublicInputs(decimals, 'bls12-381');

  it('accepts the PoRep proof of polka-2kib', async (context) => {
    const facts = await readJson(vector(context, 'filecoin/polka-2kib/porep-2KiB.json'));
    const vk = compressedKey(fromHex('key', facts.vk_compressed_hex));
    const proof = readProof('proof', fromHex('proof', facts.proof_hex));
    const [first, ...rest] = facts.public_inputs_decimal;
    expect(await verify(vk, scalarsOf([first, ...rest]), proof)).toEqual({ valid: true });
    const changed = scalarsOf([`${BigInt(first) ^ 1n}`, ...rest]);
    expect(await verify(vk, changed, proof)).toMatchObject({ valid: false });
  });

  it('accepts the Sprout proof of Zcash', async (context) => {
    const facts = await readJson(vector(context, 'zcash-bls12_381/sprout-joinsplit.json'));
    await using source = await openFile(vector(context, 'zcash-bls12_381/sprout-groth16.vk'));
    const { verifyingKey } = await readVerifyingKey(source);
    const proof = readProof('proof', fromHex('proof', facts.proof_hex));
    const inputs = scalarsOf(facts.public_inputs_decimal);
    expect(await verify(verifyingKey, inputs, proof)).toEqual({ valid: true });
    expect(await verify(verifyingKey, inputs.toReversed(), proof)).toMatchObject({ valid: false });
  });
});

/** The fields of a `.vk` file with compressed points. */
function compressedKey(bytes: Uint8Array): VerifyingKey {
  const g1 = (at: number) => decompress(BLS_G1, 'key', bytes.subarray(at, at + 48));
  const g2 = (at: number) => decompress(BLS_G2, 'key', bytes.subarray(at, at + 96));
  const points = { alphaG1: g1(0), betaG2: g2(96), gammaG2: g2(192), deltaG2: g2(336) };
  const count = viewOf(bytes).getUint32(432);
  const ic = Array.from({ length: count }, (_, i) => g1(436 + 48 * i));
  return { curve: 'bls12-381', ...points, ic };
}
