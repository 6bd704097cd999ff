import { describe, expect, it } from 'vitest';
import { viewOf, writeBigIntLE } from '../../../src/core/bytes.ts';
import { fromBytes, openFile } from '../../../src/core/source.ts';
import { type R1cs, readR1cs, TERMS_MAX, writeR1cs } from '../../../src/formats/r1cs.ts';
import { checkCanonical, readWtns } from '../../../src/formats/wtns.ts';
import { type CurveName, curveOf } from '../../../src/math/curve.ts';
import type { Constraint } from '../../../src/r1cs/constraint-system.ts';
import { vector } from '../../support/shared.ts';
import {
  appendSection,
  collect,
  listOf,
  PRODUCT,
  refusal,
  replaceSection,
  sampleR1cs,
  sectionsOf,
  watched,
  withU32,
} from './samples.ts';

const CURVES: readonly CurveName[] = ['bn254', 'bls12-381'];
const read = (bytes: Uint8Array) => readR1cs(fromBytes('c.r1cs', bytes));
/** Reads the constraints too. */
const readAll = async (bytes: Uint8Array) => listOf((await read(bytes)).constraints());

function contentOf(bytes: Uint8Array, id: number): number {
  return sectionsOf(bytes).find((section) => section.id === id)?.content as number;
}

describe.each(CURVES)('r1cs of %s', (curve) => {
  const minusOne = curveOf(curve).r - 1n;
  const constraints: Constraint[] = [
    PRODUCT,
    { a: [], b: [], c: [] },
    {
      a: [
        { wire: 3, coefficient: minusOne },
        { wire: 0, coefficient: 5n },
      ],
      b: [{ wire: 0, coefficient: 1n }],
      c: [],
    },
  ];

  it('reads what was written, as often as it is asked', async () => {
    const r1cs = await read(await sampleR1cs(curve, constraints));
    expect(r1cs).toMatchObject({
      curve,
      wireCount: 4,
      publicOutputCount: 1,
      publicInputCount: 0,
      privateInputCount: 2,
      inputCount: 2,
      auxCount: 2,
      constraintCount: 3,
    });
    expect(await listOf(r1cs.constraints())).toEqual(constraints);
    expect(await listOf(r1cs.constraints())).toEqual(constraints);
  });

  it('drops terms whose coefficient is zero', async () => {
    const zero = [{ wire: 2, coefficient: 0n }, ...PRODUCT.a];
    const bytes = await sampleR1cs(curve, [{ ...PRODUCT, b: [{ wire: 1, coefficient: 0n }] }]);
    expect(await readAll(bytes)).toEqual([{ ...PRODUCT, b: [] }]);
    const twice = await sampleR1cs(curve, [{ ...PRODUCT, a: zero }]);
    expect(await refusal(readAll(twice))).toBe(
      'c.r1cs: constraint 0: A: wire 2: expected one term, got two',
    );
  });

  it('refuses every truncation of its file and of its constraints', async () => {
    const bytes = await sampleR1cs(curve, constraints);
    for (let length = 0; length < bytes.length; length++) {
      await refusal(read(bytes.subarray(0, length)));
    }
    const { content, length } = sectionsOf(bytes)[1] as { content: number; length: number };
    const old = bytes.subarray(content, content + length);
    for (let kept = 0; kept < length; kept++) {
      await refusal(readAll(replaceSection(bytes, 2, old.subarray(0, kept))));
    }
    const longer = new Uint8Array(length + 4);
    longer.set(old);
    expect(await refusal(readAll(replaceSection(bytes, 2, longer)))).toContain('4 bytes more');
  });

  it('refuses counts that cannot be', async () => {
    const bytes = await sampleR1cs(curve, constraints);
    const header = contentOf(bytes, 1);
    for (const wires of [0, 3, 5, 2 ** 32 - 1]) {
      await refusal(read(withU32(bytes, header + 36, wires)));
    }
    for (const at of [40, 44, 48]) await refusal(read(withU32(bytes, header + at, 2 ** 32 - 1)));
    for (const count of [4, 1000, 2 ** 32 - 1]) {
      await refusal(readAll(withU32(bytes, header + 60, count)));
    }
    await refusal(readAll(withU32(bytes, header + 60, 2)));
    const terms = contentOf(bytes, 2);
    for (const count of [5, 2 ** 32 - 1]) await refusal(readAll(withU32(bytes, terms, count)));
  });

  it('refuses a wire the circuit does not have and a coefficient of r or more', async () => {
    const bytes = await sampleR1cs(curve);
    const term = contentOf(bytes, 2) + 4;
    expect(await refusal(readAll(withU32(bytes, term, 4)))).toBe(
      'c.r1cs: constraint 0: A: wire: expected below 4, got 4',
    );
    const large = bytes.slice();
    large.set(writeBigIntLE(curveOf(curve).r, 32), term + 4);
    expect(await refusal(readAll(large))).toContain('a coefficient below r');
  });

  it('refuses another field, another header size and a missing section', async () => {
    const bytes = await sampleR1cs(curve);
    const modulus = contentOf(bytes, 1) + 4;
    const other = bytes.with(modulus, (bytes[modulus] as number) ^ 2);
    expect(await refusal(read(other))).toContain('BN254 or BLS12-381');
    await refusal(read(replaceSection(bytes, 1)));
    await refusal(read(replaceSection(bytes, 2)));
    await refusal(read(replaceSection(bytes, 1, new Uint8Array(65))));
    await refusal(read(replaceSection(bytes, 3, new Uint8Array(31))));
    expect((await read(replaceSection(bytes, 3))).wireCount).toBe(4);
  });

  it('refuses custom gates, and accepts empty lists of them', async () => {
    const bytes = await sampleR1cs(curve);
    for (const id of [4, 5]) {
      await read(appendSection(bytes, id, new Uint8Array(0)));
      await read(appendSection(bytes, id, new Uint8Array(4)));
      for (const gates of [Uint8Array.of(1, 0, 0, 0), new Uint8Array(5)]) {
        const message = await refusal(read(appendSection(bytes, id, gates)));
        expect(message).toContain(`section ${id}: expected no custom gates`);
      }
    }
  });
});

describe('large r1cs', () => {
  const curve: CurveName = 'bn254';

  it('takes the longest linear combination but not a longer one', async () => {
    const wireCount = TERMS_MAX + 1;
    const one = writeBigIntLE(1n, 32);
    const withTerms = async (count: number) => {
      const bytes = new Uint8Array(4 + count * 36 + 8);
      viewOf(bytes).setUint32(0, count, true);
      for (let i = 0; i < count; i++) {
        viewOf(bytes).setUint32(4 + i * 36, i, true);
        bytes.set(one, 8 + i * 36);
      }
      const header = { curve, publicOutputCount: 0, publicInputCount: 0, privateInputCount: 0 };
      const empty = [{ a: [], b: [], c: [] }];
      const file = await collect(writeR1cs({ ...header, wireCount }, empty));
      return readR1cs(fromBytes('c.r1cs', replaceSection(file, 2, bytes)));
    };
    const first = async (r1cs: R1cs) => (await listOf(r1cs.constraints()))[0]?.a.length;
    expect(await first(await withTerms(TERMS_MAX))).toBe(TERMS_MAX);
    const message = await refusal(first(await withTerms(TERMS_MAX + 1)));
    expect(message).toContain(`at most ${TERMS_MAX}, got ${TERMS_MAX + 1}`);
  });

  it('reads a large circuit in pieces', async () => {
    const many = Array.from({ length: 30_000 }, () => PRODUCT);
    const source = watched(await sampleR1cs(curve, many));
    let count = 0;
    for await (const constraint of (await readR1cs(source)).constraints()) {
      if (count++ % 1000 === 0) expect(constraint).toEqual(PRODUCT);
    }
    expect(count).toBe(30_000);
    expect(source.size).toBeGreaterThan(3 * source.largestRead);
  });
});

const CIRCUITS = [
  ['circom-bn254/multiplier2/circuit.r1cs', 'bn254', 'circom-bn254/multiplier2/witness.wtns'],
  ['circom-bn254/poseidon/circuit.r1cs', 'bn254', 'circom-bn254/poseidon/witness.wtns'],
  [
    'circom-bls12_381/multiplier2/circuit.r1cs',
    'bls12-381',
    'circom-bls12_381/multiplier2/witness.wtns',
  ],
  ['circom-bls12_381/poseidon/circuit.r1cs', 'bls12-381', 'circom-bls12_381/poseidon/witness.wtns'],
  ['derived-positive/p05-npublic0.r1cs', 'bn254', 'derived-positive/p05-npublic0.wtns'],
  ['circom-mopro/multiplier2.r1cs', 'bn254', undefined],
  ['ark-circom/mycircuit.r1cs', 'bn254', undefined],
  ['ark-circom/circuit2.r1cs', 'bn254', 'ark-circom/witness.wtns'],
] as const;

describe('r1cs of public vectors', () => {
  it.for(CIRCUITS)('%s', async ([path, curve, witness], context) => {
    await using source = await openFile(vector(context, path));
    const r1cs = await readR1cs(source);
    expect(r1cs.curve).toBe(curve);
    const constraints = await listOf(r1cs.constraints());
    expect(constraints).toHaveLength(r1cs.constraintCount);
    const written = await collect(writeR1cs(r1cs, constraints));
    expect(await readAll(written)).toEqual(constraints);
    if (witness === undefined) return;

    await using wtnsSource = await openFile(vector(context, witness));
    const wtns = await readWtns(wtnsSource);
    await checkCanonical(wtnsSource, wtns);
    expect(wtns.count).toBe(r1cs.wireCount);
    const bytes = await wtnsSource.read(wtns.offset, 32 * wtns.count);
    const { r } = curveOf(curve);
    const value = (terms: Constraint['a']) =>
      terms.reduce((sum, { wire, coefficient }) => {
        const wireBytes = bytes.slice(32 * wire, 32 * wire + 32).reverse();
        return (sum + coefficient * BigInt(`0x${Buffer.from(wireBytes).toString('hex')}`)) % r;
      }, 0n);
    for (const { a, b, c } of constraints) expect((value(a) * value(b)) % r).toBe(value(c));
  });
});
