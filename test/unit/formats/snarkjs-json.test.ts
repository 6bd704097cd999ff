import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { fromBytes } from '../../../src/core/source.ts';
import { INPUTS_MAX } from '../../../src/formats/limits.ts';
import {
  JSON_BYTES_MAX,
  parsePublicInputs,
  parseSnarkjsProof,
  parseVerificationKey,
  readJson,
  snarkjsText,
  writePublicInputs,
  writeSnarkjsProof,
  writeVerificationKey,
} from '../../../src/formats/snarkjs-json.ts';
import type { Proof, VerifyingKey } from '../../../src/groth16/types.ts';
import { type CurveName, curveOf } from '../../../src/math/curve.ts';
import { g1Of, g2Of, pointToBytes } from '../../../src/math/points.ts';
import { vector } from '../../support/shared.ts';

const CURVES: readonly CurveName[] = ['bn254', 'bls12-381'];
const text = (path: string) => readFileSync(path, 'utf8');
/** As snarkjs wrote it: one vector was indented by four spaces a level, and some end with a newline. */
const exact = (path: string) =>
  text(path)
    .replace(/\n$/, '')
    .replace(/^(?: {4})+(?=\S)/gm, (indent) =>
      text(path).startsWith('{\n    "') ? ' '.repeat(indent.length / 4) : indent,
    );

function sampleProof(curve: CurveName): Proof {
  const [g1, g2] = [g1Of(curve), g2Of(curve)];
  return {
    curve,
    a: pointToBytes(g1, g1.Point.BASE.multiply(2n)),
    b: pointToBytes(g2, g2.Point.BASE.multiply(3n)),
    c: pointToBytes(g1, g1.Point.BASE.multiply(4n)),
  };
}

function sampleKey(curve: CurveName): VerifyingKey {
  const { a, b, c } = sampleProof(curve);
  return { curve, alphaG1: a, betaG2: b, gammaG2: b, deltaG2: b, ic: [a, c] };
}

/** A JSON value with the part at `path` replaced; undefined removes it. */
function changed(value: unknown, path: readonly (string | number)[], part: unknown): unknown {
  const copy = JSON.parse(JSON.stringify(value));
  const parent = path.slice(0, -1).reduce((object, key) => object[key], copy);
  const last = path.at(-1) as string | number;
  if (part === undefined) delete parent[last];
  else parent[last] = part;
  return copy;
}

describe.each(CURVES)('snarkjs JSON of %s', (curve) => {
  const proof = sampleProof(curve);
  const json = writeSnarkjsProof(proof);
  const key = sampleKey(curve);
  const keyJson = writeVerificationKey(key);
  const { q, r } = curveOf(curve);

  it('reads what was written', () => {
    expect(parseSnarkjsProof(JSON.parse(snarkjsText(json)), curve)).toEqual(proof);
    expect(parseVerificationKey(JSON.parse(snarkjsText(keyJson)))).toEqual(key);
    const inputs = ['0', '1', (r - 1n).toString()];
    expect(writePublicInputs(parsePublicInputs(inputs, curve))).toEqual(inputs);
  });

  it('writes and reads infinity as snarkjs does', () => {
    const size = curve === 'bn254' ? 64 : 96;
    const infinite = {
      curve,
      a: new Uint8Array(size),
      b: new Uint8Array(2 * size),
      c: proof.c,
    } as Proof;
    const written = writeSnarkjsProof(infinite);
    expect(written.pi_a).toEqual(['0', '1', '0']);
    expect(written.pi_b).toEqual([
      ['0', '0'],
      ['1', '0'],
      ['0', '0'],
    ]);
    expect(parseSnarkjsProof(written, curve)).toEqual(infinite);
  });

  it.each([
    [['pi_a'], undefined, 'proof: pi_a: expected an array, got nothing'],
    [['pi_c'], undefined, 'proof: pi_c: expected an array, got nothing'],
    [['pi_c'], null, 'proof: pi_c: expected an array, got null'],
    [['pi_b'], {}, 'proof: pi_b: expected an array, got a object'],
    [['pi_a'], ['1', '2'], 'proof: pi_a: expected 3 items, got 2'],
    [['pi_a'], ['1', '2', '1', '1'], 'proof: pi_a: expected at most 3 items, got 4'],
    [['pi_b', 0], ['1'], 'proof: pi_b[0]: expected 2 items, got 1'],
    [['pi_a', 0], 1, 'proof: pi_a[0]: expected a decimal string, got a number'],
    [['pi_a', 0], '-1', 'pi_a[0]: expected a decimal string below the field modulus, got another'],
    [['pi_a', 0], '0x1', 'pi_a[0]: expected a decimal string below the field modulus, got another'],
    [['pi_a', 0], '01', 'pi_a[0]: expected a decimal string'],
    [['pi_a', 0], '', 'pi_a[0]: expected a decimal string'],
    [['pi_a', 0], '1e3', 'pi_a[0]: expected a decimal string'],
    [['pi_a', 0], ' 1', 'pi_a[0]: expected a decimal string'],
    [['pi_a', 0], '1\n', 'pi_a[0]: expected a decimal string'],
    [['pi_a', 0], '٣', 'pi_a[0]: expected a decimal string'],
    [['pi_a', 0], '9'.repeat(100_000), 'pi_a[0]: expected a decimal string below'],
    [['pi_a', 0], q.toString(), 'pi_a[0]: expected a number below the field modulus, got a larger'],
    [['pi_b', 1, 1], q.toString(), 'pi_b[1][1]: expected a number below the field modulus'],
    [['pi_a', 2], '2', 'proof: pi_a: expected an affine point (z = 1) or infinity (0, 1, 0)'],
    [['pi_a', 2], '0', 'proof: pi_a: expected an affine point (z = 1) or infinity (0, 1, 0)'],
    [['pi_b', 2], ['1', '1'], 'proof: pi_b: expected an affine point'],
    [['pi_a'], ['0', '0', '1'], 'proof: pi_a: expected a point of the curve, got the origin'],
    [['protocol'], 'plonk', 'proof: protocol: expected groth16, got plonk'],
    [['protocol'], 7, 'proof: protocol: expected groth16, got a number'],
    [['curve'], 'secp256k1', 'proof: curve: expected bn128 or bls12381, got secp256k1'],
    [['curve'], 'constructor', 'proof: curve: expected bn128 or bls12381, got constructor'],
    [['curve'], 'x\n'.repeat(99), 'proof: curve: expected bn128 or bls12381, got another name'],
  ] as const)('refuses a proof with %j = %j', (path, part, message) => {
    expect(() => parseSnarkjsProof(changed(json, path, part), curve)).toThrow(message);
  });

  it.each([null, undefined, 1, 'proof', [], true])('refuses %j as a proof or a key', (value) => {
    expect(() => parseSnarkjsProof(value, curve)).toThrow('proof: expected a JSON object');
    expect(() => parseVerificationKey(value)).toThrow('verification key: expected a JSON object');
  });

  it('refuses a proof of another curve than the key', () => {
    const other = curve === 'bn254' ? 'bls12-381' : 'bn254';
    expect(() => parseSnarkjsProof(json, other)).toThrow(`proof: curve: expected ${other}`);
  });

  it('accepts a proof without curve and protocol, and fields it does not know', () => {
    const { pi_a, pi_b, pi_c } = json;
    expect(parseSnarkjsProof({ pi_a, pi_b, pi_c, made_by: 'another tool' }, curve)).toEqual(proof);
  });

  it.each([
    [['IC'], undefined, 'verification key: IC: expected an array, got nothing'],
    [['IC'], [], 'verification key: IC: expected at least 1 point, got 0'],
    [['IC', 1, 0], q.toString(), 'verification key: IC[1][0]: expected a number below'],
    [['nPublic'], 2, 'verification key: nPublic: expected 1 (IC less one), got another value'],
    [['nPublic'], '1', 'verification key: nPublic: expected 1'],
    [['vk_beta_2'], undefined, 'verification key: vk_beta_2: expected an array, got nothing'],
    [['protocol'], 'fflonk', 'verification key: protocol: expected groth16, got fflonk'],
  ] as const)('refuses a verification key with %j = %j', (path, part, message) => {
    expect(() => parseVerificationKey(changed(keyJson, path, part))).toThrow(message);
  });

  it('needs neither nPublic nor e(alpha, beta) in a verification key', () => {
    for (const name of ['nPublic', 'vk_alphabeta_12', 'protocol']) {
      expect(parseVerificationKey(changed(keyJson, [name], undefined))).toEqual(key);
    }
  });

  it('bounds the points of a verification key and the public inputs', () => {
    const many = (n: number) => Array.from({ length: n }, () => '1');
    expect(parsePublicInputs(many(INPUTS_MAX - 1), curve)).toHaveLength(INPUTS_MAX - 1);
    expect(() => parsePublicInputs(many(INPUTS_MAX), curve)).toThrow(`at most ${INPUTS_MAX - 1}`);
    const ic = Array.from({ length: INPUTS_MAX + 1 }, () => json.pi_a);
    expect(() => parseVerificationKey(changed(keyJson, ['IC'], ic))).toThrow(
      `IC: expected at most ${INPUTS_MAX} items`,
    );
  });

  it.each([
    ['1', 'public inputs: expected an array, got a string'],
    [[1], 'public input 0: expected a decimal string, got a number'],
    [['0', '-1'], 'public input 1: expected a decimal string below the group order, got another'],
    [['0x21'], 'public input 0: expected a decimal string'],
    [[null], 'public input 0: expected a decimal string, got null'],
    [[['1']], 'public input 0: expected a decimal string, got an array'],
  ])('refuses %j as public inputs', (value, message) => {
    expect(() => parsePublicInputs(value, curve)).toThrow(message);
  });

  it('refuses a public input of r or more without showing it', () => {
    for (const input of [r, r + 33n, 2n ** 255n]) {
      expect(() => parsePublicInputs([input.toString()], curve)).toThrow(
        /^public input 0: expected a number below the group order, got a larger one$/,
      );
    }
  });
});

describe('curve spellings', () => {
  const key = writeVerificationKey(sampleKey('bls12-381'));
  const bnKey = writeVerificationKey(sampleKey('bn254'));
  it.each(['bn128', 'bn254', 'BN254'])('%s', (curve) => {
    expect(parseVerificationKey({ ...bnKey, curve }).curve).toBe('bn254');
  });
  it.each(['bls12381', 'bls12-381', 'BLS12-381'])('%s', (curve) => {
    expect(parseVerificationKey({ ...key, curve }).curve).toBe('bls12-381');
  });
  it('takes a key that names none as one of BN254, so that one of BLS12-381 is refused', () => {
    expect(parseVerificationKey(changed(bnKey, ['curve'], undefined)).curve).toBe('bn254');
    expect(() => parseVerificationKey(changed(key, ['curve'], undefined))).toThrow(
      'below the field modulus',
    );
  });
});

describe('JSON files', () => {
  const read = (bytes: Uint8Array) => readJson(fromBytes('proof.json', bytes));
  const encode = (value: string) => new TextEncoder().encode(value);

  it('reads JSON', async () => {
    expect(await read(encode('["33"]'))).toEqual(['33']);
  });

  it('refuses what is not JSON without quoting it', async () => {
    for (const bad of ['', '{', 'secret', '["1",]']) {
      await expect(read(encode(bad))).rejects.toThrow(
        /^proof.json: expected JSON, got something else$/,
      );
    }
  });

  it('refuses nesting that would exhaust the stack', async () => {
    await expect(read(encode('['.repeat(2_000_000)))).rejects.toThrow(
      /^proof.json: expected JSON of at most 16 levels, got something else$/,
    );
  });

  it('reads at most 16 MiB', async () => {
    expect(await read(encode(`"${'x'.repeat(JSON_BYTES_MAX - 2)}"`))).toHaveLength(
      JSON_BYTES_MAX - 2,
    );
    await expect(read(new Uint8Array(JSON_BYTES_MAX + 1))).rejects.toMatchObject({
      code: 'ERR_TOO_LARGE',
    });
  });
});

const SETS = ['circom-bn254', 'circom-bls12_381'].flatMap((folder) =>
  ['multiplier2', 'poseidon'].map((circuit) => ({
    set: `${folder}/${circuit}`,
    curve: (folder === 'circom-bn254' ? 'bn254' : 'bls12-381') as CurveName,
  })),
);

describe('snarkjs files of public vectors', () => {
  it.for(SETS)('$set is written with the same bytes', ({ set, curve }, context) => {
    const proofText = exact(vector(context, `${set}/circom.proof`));
    const proof = parseSnarkjsProof(JSON.parse(proofText), curve);
    expect(snarkjsText(writeSnarkjsProof(proof))).toBe(proofText);
    const keyText = exact(vector(context, `${set}/verification_key.json`));
    const key = parseVerificationKey(JSON.parse(keyText));
    expect(key.curve).toBe(curve);
    expect(snarkjsText(writeVerificationKey(key))).toBe(keyText);
    const publicText = exact(vector(context, `${set}/public.json`));
    const inputs = parsePublicInputs(JSON.parse(publicText), curve);
    expect(inputs).toHaveLength(key.ic.length - 1);
    expect(snarkjsText(writePublicInputs(inputs))).toBe(publicText);
  });

  it('ark-circom/verification_key.json', (context) => {
    const keyText = exact(vector(context, 'ark-circom/verification_key.json'));
    const key = parseVerificationKey(JSON.parse(keyText));
    expect(snarkjsText(writeVerificationKey(key))).toBe(keyText);
  });

  it('an empty list of public inputs takes two lines, as snarkjs writes it', () => {
    expect(snarkjsText([])).toBe('[\n]');
  });

  it('the cases of derived-verify parse, except those that are malformed', (context) => {
    const path = vector(context, 'derived-verify/bn254-poseidon-verify-cases.json');
    const { cases } = JSON.parse(text(path)) as {
      cases: { name: string; public: unknown; proof: unknown }[];
    };
    const outcome = ({ public: inputs, proof }: (typeof cases)[number]) => {
      try {
        parsePublicInputs(inputs, 'bn254');
        parseSnarkjsProof(proof, 'bn254');
        return 'parses';
      } catch (error) {
        return (error as Error).message;
      }
    };
    const malformed = cases.map((c) => [c.name, outcome(c)]).filter(([, o]) => o !== 'parses');
    // The number of inputs and whether points lie on their curve is for the verifier to say.
    expect(Object.fromEntries(malformed)).toEqual({
      'v07-public-minus-r (negative)':
        'public input 0: expected a decimal string below the group order, got another string',
      'v11-public-hex':
        'public input 0: expected a decimal string below the group order, got another string',
      'v21-pi_c-missing': 'proof: pi_c: expected an array, got nothing',
    });
  });
});

describe('readJson', () => {
  const nested = (levels: number) =>
    fromBytes('deep.json', Buffer.from('['.repeat(levels) + ']'.repeat(levels)));

  it('takes sixteen levels and no more', async () => {
    await expect(readJson(nested(16))).resolves.toBeInstanceOf(Array);
    for (const levels of [17, 5000, 4_000_000]) {
      await expect(readJson(nested(levels))).rejects.toMatchObject({ code: 'ERR_FORMAT' });
    }
  });
});
