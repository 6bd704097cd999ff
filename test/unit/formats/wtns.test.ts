import { describe, expect, it } from 'vitest';
import { writeBigIntLE } from '../../../src/core/bytes.ts';
import { ProverError } from '../../../src/core/errors.ts';
import { fromBytes, openFile } from '../../../src/core/source.ts';
import { checkCanonical, readWtns, writeWtns } from '../../../src/formats/wtns.ts';
import { type CurveName, curveOf } from '../../../src/math/curve.ts';
import { vector } from '../../support/shared.ts';
import { collect, refusal, replaceSection, sampleWtns, sectionsOf, withU32 } from './samples.ts';

const CURVES: readonly CurveName[] = ['bn254', 'bls12-381'];
const read = (bytes: Uint8Array) => readWtns(fromBytes('w.wtns', bytes));

describe.each(CURVES)('wtns of %s', (curve) => {
  it('reads what was written', async () => {
    const bytes = await sampleWtns(curve);
    const source = fromBytes('w.wtns', bytes);
    const wtns = await readWtns(source);
    expect(wtns).toEqual({ curve, count: 4, offset: 76 });
    expect(await source.read(wtns.offset + 32, 32)).toEqual(writeBigIntLE(33n, 32));
    await checkCanonical(source, wtns);
  });

  it('refuses every truncation, and a count that the values do not have', async () => {
    const bytes = await sampleWtns(curve);
    for (let length = 0; length < bytes.length; length++) {
      await refusal(read(bytes.subarray(0, length)));
    }
    const [header] = sectionsOf(bytes);
    const countAt = (header?.content as number) + 36;
    for (const count of [0, 3, 5, 2 ** 32 - 1]) {
      await refusal(read(withU32(bytes, countAt, count)));
    }
  });

  it('refuses another field, a first value that is not 1, a header of another size', async () => {
    const bytes = await sampleWtns(curve);
    const [header] = sectionsOf(bytes);
    const modulusAt = (header?.content as number) + 4;
    const other = bytes.with(modulusAt, (bytes[modulusAt] as number) ^ 2);
    expect(await refusal(read(other))).toContain('BN254 or BLS12-381');
    expect(await refusal(read(await sampleWtns(curve, [2n])))).toContain('value 0');
    await refusal(read(replaceSection(bytes, 1, new Uint8Array(40))));
    await refusal(read(replaceSection(bytes, 1, new Uint8Array(41))));
    await refusal(read(replaceSection(bytes, 1)));
    await refusal(read(replaceSection(bytes, 2)));
  });

  it('names the first value that is not below the modulus, never the value', async () => {
    const { r } = curveOf(curve);
    for (const bad of [r, r + 1n, 2n ** 256n - 1n]) {
      const source = fromBytes('w.wtns', await sampleWtns(curve, [1n, r - 1n, bad, 5n]));
      const message = await refusal(checkCanonical(source, await readWtns(source)));
      expect(message).toBe(
        'w.wtns: value 2: expected a number below the modulus, got a larger one',
      );
    }
  });

  it('checks values beyond the first chunk, and stops when it is told to', async () => {
    const values = function* () {
      yield writeBigIntLE(1n, 32);
      for (let i = 1; i < 70_000; i++) yield new Uint8Array(32);
      yield writeBigIntLE(curveOf(curve).r, 32);
    };
    const bytes = await collect(writeWtns(curve, { count: 70_001, bytes: values() }));
    const source = fromBytes('w.wtns', bytes);
    const wtns = await readWtns(source);
    expect(await refusal(checkCanonical(source, wtns))).toContain('value 70000');
    const abort = AbortSignal.abort();
    await expect(checkCanonical(source, wtns, abort)).rejects.toMatchObject({
      code: 'ERR_CANCELLED',
    });
  });
});

describe('wtns of public vectors', () => {
  it.for([
    ['circom-bn254/multiplier2/witness.wtns', 'bn254', 4],
    ['circom-bn254/poseidon/witness.wtns', 'bn254', 215],
    ['circom-bls12_381/multiplier2/witness.wtns', 'bls12-381', 4],
    ['circom-bls12_381/poseidon/witness.wtns', 'bls12-381', 215],
    ['ark-circom/witness.wtns', 'bn254', 132],
    ['derived-positive/p05-npublic0.wtns', 'bn254', 4],
    ['derived-negative/w03-unsatisfied-last-wire+1.wtns', 'bn254', 4],
  ] as const)('%s', async ([path, curve, count], context) => {
    await using source = await openFile(vector(context, path));
    const wtns = await readWtns(source);
    expect(wtns).toMatchObject({ curve, count });
    await checkCanonical(source, wtns);
    const values = await source.read(wtns.offset, 32 * wtns.count);
    const written = await collect(writeWtns(curve, { count, bytes: [values] }));
    expect(written).toEqual(await source.read(0, source.size));
  });

  // w03 is a well-formed witness that does not satisfy its circuit: only its proof can show that.
  it.for([
    ['w01-truncated-8-bytes.wtns', 'section 2: expected at most the 120 bytes left'],
    ['w05-wire0-not-one.wtns', 'value 0: expected the constant 1'],
    ['w07-section2-size-claims-2^62.wtns', 'got a length of 4611686018427387904'],
    ['w09-empty.wtns', 'expected a wtns file, got 0 bytes'],
    ['w10-nsections-2^32-1.wtns', 'expected at most 64, got 4294967295'],
  ] as const)('refuses %s', async ([name, text], context) => {
    await using source = await openFile(vector(context, `derived-negative/${name}`));
    const message = await refusal(readWtns(source));
    expect(message).toMatch(new RegExp(`^${name.replace(/[.^+]/g, '\\$&')}: `));
    expect(message).toContain(text);
  });

  it('refuses a file that is not there', async () => {
    await expect(openFile('/nowhere/w.wtns')).rejects.toBeInstanceOf(ProverError);
  });
});
