import { readFileSync } from 'node:fs';
import { zKey } from 'snarkjs';
import { afterAll, describe, expect, it } from 'vitest';
import { viewOf } from '../../../src/core/bytes.ts';
import { fromBytes, openFile } from '../../../src/core/source.ts';
import { INPUTS_MAX } from '../../../src/formats/limits.ts';
import { writeVerificationKey } from '../../../src/formats/snarkjs-json.ts';
import { readZkey } from '../../../src/formats/zkey.ts';
import { readCoefficients } from '../../../src/groth16/coefficient-rows.ts';
import { type CurveName, curveOf } from '../../../src/math/curve.ts';
import { checkPoint, g1Of, g2Of, pointFromForm } from '../../../src/math/points.ts';
import { endSnarkjs } from '../../support/end-snarkjs.ts';
import { vector } from '../../support/shared.ts';
import {
  appendSection,
  COEFFICIENTS,
  listOf,
  refusal,
  replaceSection,
  sampleZkey,
  sectionsOf,
  watched,
  withU32,
} from './samples.ts';

afterAll(endSnarkjs);

const CURVES: readonly CurveName[] = ['bn254', 'bls12-381'];
const read = (bytes: Uint8Array) => readZkey(fromBytes('k.zkey', bytes), '/keys/k.zkey');

/** Offset of section `id`'s content. */
function contentOf(bytes: Uint8Array, id: number): number {
  return sectionsOf(bytes).find((section) => section.id === id)?.content as number;
}

/** Offset of nVars in the header; nPublic and domainSize follow, then the points. */
function countsOf(bytes: Uint8Array, curve: CurveName): number {
  return contentOf(bytes, 2) + 4 + curveOf(curve).fpBytes + 4 + 32;
}

describe.each(CURVES)('zkey of %s', (curve) => {
  it('reads what was written, without holding a query', async () => {
    const bytes = await sampleZkey(curve);
    const source = watched(bytes);
    const { key, contributions, circuitHash } = await readZkey(source, '/keys/k.zkey');
    expect(key).toMatchObject({
      curve,
      format: 'zkey',
      points: 'montgomery-le',
      hBasis: 'odd-lagrange',
      inputCount: 2,
      auxCount: 2,
      logN: 2,
    });
    expect([contributions, circuitHash]).toEqual([0, '0'.repeat(128)]);
    expect(source.largestRead).toBeLessThan(1024);
    const g1 = g1Of(curve);
    for (const [query, count, first] of [
      [key.a, 4, 10n],
      [key.bG1, 4, 20n],
      [key.l, 2, 30n],
      [key.h, 4, 40n],
    ] as const) {
      expect(query).toMatchObject({ count, slice: { path: '/keys/k.zkey' } });
      expect(query.slice.length).toBe(count * g1.byteLength);
      const image = bytes.subarray(query.slice.offset, query.slice.offset + g1.byteLength);
      const point = pointFromForm(g1, 'montgomery-le', 'point', image);
      expect(point.equals(g1.Point.BASE.multiply(first))).toBe(true);
    }
    expect(key.bG2.slice.length).toBe(4 * g2Of(curve).byteLength);
    expect((await listOf(readCoefficients(source, key))).flat()).toEqual(COEFFICIENTS);
  });

  it('is read by snarkjs, which finds the same verifying key', async () => {
    const bytes = await sampleZkey(curve);
    const { key } = await read(bytes);
    const exported = await zKey.exportVerificationKey({ type: 'mem', data: bytes });
    expect(exported).toEqual(writeVerificationKey(key.verifyingKey));
  });

  it('refuses a truncation at every section border, and around it', async () => {
    const bytes = await sampleZkey(curve);
    const borders = sectionsOf(bytes).flatMap(({ header, content }) => [header, content]);
    for (const border of [...borders, bytes.length]) {
      for (const length of [border - 1, border, border + 1]) {
        if (length < bytes.length) await refusal(read(bytes.subarray(0, length)));
      }
    }
  });

  it('needs sections 1 to 9, and no others', async () => {
    const bytes = await sampleZkey(curve);
    for (let id = 1; id <= 9; id++) {
      expect(await refusal(read(replaceSection(bytes, id)))).toContain(`section ${id}`);
    }
    const { key, ...ceremony } = await read(replaceSection(bytes, 10));
    expect(ceremony).toEqual({});
    expect(key.inputCount).toBe(2);
    await read(appendSection(bytes, 99, Uint8Array.of(1)));
  });

  it('refuses a section that is one byte or one record longer than the header says', async () => {
    const bytes = await sampleZkey(curve);
    for (const { id, content, length } of sectionsOf(bytes).filter((s) => s.id < 10)) {
      const old = bytes.subarray(content, content + length);
      for (const extra of [1, 44, g1Of(curve).byteLength]) {
        const longer = new Uint8Array(length + extra);
        longer.set(old);
        await refusal(read(replaceSection(bytes, id, longer)));
      }
      await refusal(read(replaceSection(bytes, id, old.subarray(0, length - 1))));
    }
  });

  it.each([
    [2, 'PLONK'],
    [10, 'FFLONK'],
    [7, 'number 7'],
  ])('refuses protocol %i: %s', async (protocol, name) => {
    const bytes = await sampleZkey(curve);
    const message = await refusal(read(withU32(bytes, contentOf(bytes, 1), protocol)));
    expect(message).toBe(`k.zkey: protocol: expected Groth16, got ${name}`);
  });

  it('refuses counts that cannot be', async () => {
    const bytes = await sampleZkey(curve);
    const at = countsOf(bytes, curve);
    for (const wires of [0, 1, 3, 5, 2 ** 32 - 1]) await refusal(read(withU32(bytes, at, wires)));
    for (const inputs of [0, 2, 4, 2 ** 32 - 1]) {
      await refusal(read(withU32(bytes, at + 4, inputs)));
    }
    for (const domain of [0, 1, 2, 3, 5, 8, 2 ** 30, 2 ** 31, 2 ** 32 - 1]) {
      await refusal(read(withU32(bytes, at + 8, domain)));
    }
    const many = withU32(withU32(bytes, at, 2 ** 31), at + 4, INPUTS_MAX);
    expect(await refusal(read(many))).toContain(`fewer than ${INPUTS_MAX}, got ${INPUTS_MAX}`);
    const oneLess = withU32(many, at + 4, INPUTS_MAX - 1);
    expect(await refusal(read(oneLess))).not.toContain('fewer than');
    const rowsAt = contentOf(bytes, 4);
    for (const rows of [0, 3, 5, 2 ** 32 - 1]) await refusal(read(withU32(bytes, rowsAt, rows)));
  });

  it('refuses a domain without the root of unity that its odd points need', async () => {
    const bytes = await sampleZkey(curve);
    const limit = curve === 'bn254' ? 27 : 31;
    const at = countsOf(bytes, curve) + 8;
    const inside = await refusal(read(withU32(bytes, at, 2 ** limit)));
    expect(inside).toContain('section 9');
    if (limit === 31) return;
    expect(await refusal(read(withU32(bytes, at, 2 ** (limit + 1))))).toContain('up to 2^27');
  });

  it('refuses a verifying key with a bad point, naming it', async () => {
    const bytes = await sampleZkey(curve);
    const { fpBytes } = curveOf(curve);
    const names = ['alpha', 'beta in G1', 'beta in G2', 'gamma', 'delta in G1', 'delta in G2'];
    const sizes = [2, 2, 4, 4, 2, 4].map((n) => n * fpBytes);
    let at = countsOf(bytes, curve) + 12;
    for (const [i, name] of names.entries()) {
      const size = sizes[i] as number;
      const off = bytes.with(at, (bytes[at] as number) ^ 1);
      expect(await refusal(read(off))).toContain(`header: ${name}: expected a point`);
      const infinity = bytes.slice().fill(0, at, at + size);
      expect(await refusal(read(infinity))).toContain(`${name}: expected a finite point`);
      const large = bytes.slice().fill(0xff, at, at + fpBytes);
      expect(await refusal(read(large))).toContain(`${name}: expected coordinates below`);
      at += size;
    }
    const ic = contentOf(bytes, 3) + 2 * fpBytes;
    const bad = bytes.with(ic, (bytes[ic] as number) ^ 1);
    expect(await refusal(read(bad))).toContain('k.zkey: ic[1]: expected a point');
  });

  it('accepts infinity for a public input that no row uses', async () => {
    const bytes = await sampleZkey(curve);
    const { byteLength } = g1Of(curve);
    const ic = contentOf(bytes, 3) + byteLength;
    const { key } = await read(bytes.slice().fill(0, ic, ic + byteLength));
    expect(key.verifyingKey.ic[1]).toEqual(new Uint8Array(byteLength));
  });

  it('refuses contributions that section 10 has no room for', async () => {
    const bytes = await sampleZkey(curve);
    const at = contentOf(bytes, 10) + 64;
    for (const count of [1, 2 ** 32 - 1]) await refusal(read(withU32(bytes, at, count)));
    await refusal(read(replaceSection(bytes, 10, new Uint8Array(67))));
  });
});

const VECTORS = [
  ['circom-bn254/multiplier2/circuit.zkey', 'bn254', 4, 1, 2, 1],
  ['circom-bn254/poseidon/circuit.zkey', 'bn254', 215, 1, 8, 0],
  ['circom-bls12_381/multiplier2/circuit.zkey', 'bls12-381', 4, 1, 2, 1],
  ['circom-bls12_381/poseidon/circuit.zkey', 'bls12-381', 215, 1, 8, 1],
  ['circom-mopro/multiplier2_final.zkey', 'bn254', 4, 2, 2, 1],
  ['circom-mopro/multiplier2_bls_final.zkey', 'bls12-381', 4, 1, 2, 0],
  ['ark-circom/test.zkey', 'bn254', 4, 1, 2, 0],
  ['derived-positive/p01-without-section10.zkey', 'bn254', 4, 1, 2, undefined],
  ['derived-positive/p02-sections-reversed.zkey', 'bn254', 4, 1, 2, 1],
  ['derived-positive/p03-unknown-section-99.zkey', 'bn254', 4, 1, 2, 1],
  ['derived-positive/p04-trailing-16-bytes.zkey', 'bn254', 4, 1, 2, 1],
  ['derived-positive/p05-npublic0.zkey', 'bn254', 4, 0, 1, 1],
] as const;

describe('zkey of public vectors', () => {
  it.for(VECTORS)('%s', async ([path, curve, wires, publics, logN, contributions], context) => {
    const file = vector(context, path);
    await using source = await openFile(file);
    const zkey = await readZkey(source, file);
    const { key } = zkey;
    expect(zkey.contributions).toBe(contributions);
    expect(key).toMatchObject({ curve, inputCount: publics + 1, logN });
    expect(key.auxCount).toBe(wires - publics - 1);
    const coefficients = (await listOf(readCoefficients(source, key))).flat();
    expect(coefficients).toHaveLength(key.rows?.count as number);
    // Each input has its own row, the last ones of A.
    const rows = coefficients.filter(({ matrix }) => matrix === 'A').slice(-publics - 1);
    expect(rows.map(({ wire, value }) => [wire, value])).toEqual(
      Array.from({ length: publics + 1 }, (_, wire) => [wire, 1n]),
    );
    const g1 = g1Of(curve);
    const image = await source.read(key.h.slice.offset, g1.byteLength);
    checkPoint(g1, 'h[0]', pointFromForm(g1, 'montgomery-le', 'h[0]', image));
  });

  it.for(
    ['circom-bn254', 'circom-bls12_381'].flatMap((curve) =>
      ['multiplier2', 'poseidon'].map((circuit) => `${curve}/${circuit}`),
    ),
  )('%s has the verifying key that snarkjs exports', async (folder, context) => {
    const file = vector(context, `${folder}/circuit.zkey`);
    const expected = readFileSync(vector(context, `${folder}/verification_key.json`), 'utf8');
    await using source = await openFile(file);
    const { key } = await readZkey(source, file);
    expect(writeVerificationKey(key.verifyingKey)).toEqual(JSON.parse(expected));
  });

  it.for([
    ['z01-truncated-half.zkey', 'section 6: expected at most the 185 bytes left'],
    ['z02-domainSize-2^30.zkey', 'domain: expected a power of two up to 2^27, got 1073741824'],
    ['z06-rprime-altered.zkey', 'fields: expected those of BN254 or BLS12-381'],
    ['z09-section-size-2^62.zkey', 'section 9: expected at most'],
  ])('refuses %s', async ([name, text], context) => {
    const file = vector(context, `derived-negative/${name}`);
    await using source = await openFile(file);
    const message = await refusal(readZkey(source, file));
    expect(message.startsWith(`${name}: `)).toBe(true);
    expect(message).toContain(text);
  });

  it('z03 has a sound verifying key; its bad point is in a query, which a backend checks', async (context) => {
    const file = vector(context, 'derived-negative/z03-pointsA-off-curve.zkey');
    await using source = await openFile(file);
    const { key } = await readZkey(source, file);
    const g1 = g1Of(key.curve);
    const bytes = await source.read(key.a.slice.offset, key.a.slice.length);
    const check = () => {
      for (let i = 0; i < key.a.count; i++) {
        const image = bytes.subarray(i * g1.byteLength, (i + 1) * g1.byteLength);
        checkPoint(g1, `a[${i}]`, pointFromForm(g1, key.points, `a[${i}]`, image));
      }
    };
    expect(check).toThrow(/^a\[\d\]: expected a point of bn254 G1, got a point off the curve$/);
  });

  it('refuses rows that the header has no room for', async (context) => {
    const bytes = new Uint8Array(
      readFileSync(vector(context, 'circom-bn254/multiplier2/circuit.zkey')),
    );
    const first = contentOf(bytes, 4) + 4;
    for (const [at, value, text] of [
      [first, 2, 'coefficient 0: matrix: expected 0 or 1, got 2'],
      [first + 4, 4, 'coefficient 0: row: expected below 4, got 4'],
      [first + 8, 4, 'coefficient 0: wire: expected below 4, got 4'],
    ] as const) {
      const changed = withU32(bytes, at, value);
      const { key } = await read(changed);
      const rows = readCoefficients(fromBytes('k.zkey', changed), key);
      expect(await refusal(listOf(rows))).toContain(text);
    }
    const large = bytes.slice();
    viewOf(large).setBigUint64(first + 12 + 24, 2n ** 64n - 1n, true);
    const { key } = await read(large);
    const rows = readCoefficients(fromBytes('k.zkey', large), key);
    expect(await refusal(listOf(rows))).toContain('below r');
  });
});
