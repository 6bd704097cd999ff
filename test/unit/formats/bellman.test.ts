import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { concatBytes, fromHex, toHex, viewOf } from '../../../src/core/bytes.ts';
import { type ByteSource, fromBytes, openFile } from '../../../src/core/source.ts';
import {
  PROOF_BYTES,
  readParameters,
  readProof,
  readProofs,
  readVerifyingKey,
  writeParameters,
  writeProof,
  writeVerifyingKey,
} from '../../../src/formats/bellman.ts';
import { INPUTS_MAX } from '../../../src/formats/limits.ts';
import { BLS_G1, BLS_G2, decompress } from '../../../src/formats/points.ts';
import { checkPoint, pointFromForm } from '../../../src/math/points.ts';
import { golden, vector } from '../../support/shared.ts';
import { collect, refusal, watched, withU32 } from './samples.ts';

const load = (path: string) => new Uint8Array(readFileSync(path));
const json = (path: string) => JSON.parse(readFileSync(path, 'utf8'));
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');
const params = load(golden('tiny.params'));
const vk = load(golden('tiny.vk'));
const known = json(golden('tiny.known.json'));

const HEAD = 864;
const readKey = (bytes: Uint8Array) => readParameters(fromBytes('k.params', bytes), '/k.params');
const readVk = (bytes: Uint8Array) => readVerifyingKey(fromBytes('k.vk', bytes));

/** Offsets of the six counts of the tiny parameters. */
const COUNTS = (() => {
  const offsets = [HEAD];
  for (const size of [96, 96, 96, 96, 96]) {
    const at = offsets.at(-1) as number;
    offsets.push(at + 4 + viewOf(params).getUint32(at) * size);
  }
  return offsets as [number, number, number, number, number, number];
})();

describe('bellman parameters', () => {
  it('reads the tiny key without holding a query', async () => {
    const source = watched(params);
    const key = await readParameters(source, '/k.params');
    expect(source.largestRead).toBe(HEAD);
    const shape = json(golden('tiny.json'));
    expect(key).toMatchObject({
      curve: 'bls12-381',
      format: 'bellman',
      points: 'canonical-be',
      hBasis: 'monomial',
      inputCount: shape.inputs,
      auxCount: shape.aux,
      logN: Math.log2(shape.domain),
    });
    expect(key.rows).toBeUndefined();
    expect(key.a.count).toBe(shape.inputs + shape.dA);
    expect(key.bG1.count).toBe(shape.dBin + shape.dB);
    for (const [query, name] of [
      [key.h, 'h'],
      [key.l, 'l'],
      [key.a, 'a'],
      [key.bG1, 'b_g1'],
      [key.bG2, 'b_g2'],
    ] as const) {
      const { offset, length } = query.slice;
      expect(sha256(params.subarray(offset, offset + length))).toBe(known[`${name}_sha256`]);
    }
  });

  it('writes the same bytes again', async () => {
    const key = await readKey(params);
    const query = ({
      slice,
      count,
    }: {
      slice: { offset: number; length: number };
      count: number;
    }) => ({
      count,
      bytes: [params.subarray(slice.offset, slice.offset + slice.length)],
    });
    const written = await collect(
      writeParameters({
        ...key,
        h: query(key.h),
        l: query(key.l),
        a: query(key.a),
        bG1: query(key.bG1),
        bG2: query(key.bG2),
      }),
    );
    expect(written).toEqual(params);
  });

  it('refuses truncation and trailing bytes', async () => {
    const borders = [0, 1, HEAD, ...COUNTS, ...COUNTS.map((at) => at + 4), params.length];
    for (const border of borders) {
      for (const length of [border - 1, border, border + 1, border + 95]) {
        if (length < 0 || length >= params.length) continue;
        await refusal(readKey(params.subarray(0, length)));
      }
    }
    const message = await refusal(readKey(concatBytes(params, new Uint8Array(1))));
    expect(message).toBe('k.params: size: expected 31032 bytes, got 31033');
  });

  it('refuses counts that do not fit the file or each other, before anything is read', async () => {
    for (const at of COUNTS) {
      const count = viewOf(params).getUint32(at);
      for (const value of [0, count - 1, count + 1, 2 ** 31, 2 ** 32 - 1]) {
        const source = watched(withU32(params, at, value, false));
        await refusal(readParameters(source, '/k.params'));
        expect(source.largestRead).toBeLessThan(30_000);
      }
    }
  });

  it('refuses queries whose lengths agree with the file but not with each other', async () => {
    const key = await readKey(params);
    const points = (count: number, size: number) => ({
      count,
      bytes: [new Uint8Array(count * size)],
    });
    const write = (counts: Partial<Record<'h' | 'l' | 'a' | 'bG1' | 'bG2', number>>) => {
      const { h, l, a, bG1, bG2 } = { h: 63, l: 49, a: 52, bG1: 49, bG2: 49, ...counts };
      return collect(
        writeParameters({
          ...key,
          h: points(h, 96),
          l: points(l, 96),
          a: points(a, 96),
          bG1: points(bG1, 96),
          bG2: points(bG2, 192),
        }),
      );
    };
    await readKey(await write({}));
    for (const [counts, text] of [
      [{ h: 62 }, 'h: expected 2^k - 1 points'],
      [{ h: 64 }, 'h: expected 2^k - 1 points'],
      [{ h: 1 }, 'h: expected at least 2 points, got 1'],
      [{ a: 2 }, 'a: expected 3 to 52 points, got 2'],
      [{ a: 53 }, 'a: expected 3 to 52 points, got 53'],
      [{ bG1: 53, bG2: 53 }, 'b in G1: expected at most 52 points, got 53'],
      [{ bG2: 48 }, 'b in G2: expected 49 points, got 48'],
    ] as const) {
      expect(await refusal(readKey(await write(counts)))).toContain(text);
    }
  });
});

/** Circuit, whose golden key has its inputs; points of h, l, a, b; bytes. From the published v28 files. */
const PUBLISHED: readonly [string, string, number, number, number, number, number][] = [
  ['PoRep 2KiB', 'porep', 4194303, 2685673, 2674948, 685522, 1114707768],
  ['PoRep 8MiB', 'porep', 4194303, 3842449, 3815036, 1011290, 1429027896],
  ['PoRep 512MiB', 'porep', 8388607, 4420837, 4385080, 1174174, 1988841144],
  ['Winning 2KiB', 'winning', 131071, 91674, 69433, 66793, 47299128],
  ['Winning 8MiB', 'winning', 262143, 233442, 176881, 169489, 113383224],
  ['Winning 512MiB', 'winning', 524287, 304326, 230605, 220837, 165299640],
  ['Winning 32GiB', 'winning', 524287, 375210, 284329, 272185, 192050232],
  ['Winning 64GiB', 'winning', 524287, 396000, 299971, 287695, 200014584],
  ['Window 2KiB', 'window', 32767, 22128, 16793, 16029, 11501496],
  ['Window 8MiB', 'window', 65535, 65088, 49353, 47149, 30859704],
  ['Window 512MiB', 'window', 131071, 86568, 65633, 62709, 45257400],
  ['Update 2KiB', 'snap', 2097151, 1703569, 1697194, 444404, 655789464],
  ['Update 8MiB', 'snap', 16777215, 9998039, 9981020, 2567922, 4268165208],
  ['Update 512MiB', 'snap', 67108863, 57401314, 57212322, 14916880, 21741422712],
  ['Update 32GiB', 'snap', 134217727, 80978488, 80743586, 20983608, 34453501368],
  ['Update 64GiB', 'snap', 134217727, 84931220, 84682730, 22012684, 35507495352],
];

/** A file of zeros, however large, except for what `parts` puts at its offsets. */
function sparse(size: number, parts: ReadonlyMap<number, Uint8Array>): ByteSource {
  return {
    name: 'k.params',
    size,
    async read(offset, length) {
      const bytes = new Uint8Array(length);
      for (const [start, part] of parts) {
        if (start >= offset && start + part.length <= offset + length)
          bytes.set(part, start - offset);
        else if (offset >= start && offset + length <= start + part.length) {
          bytes.set(part.subarray(offset - start, offset - start + length));
        }
      }
      return bytes;
    },
    async [Symbol.asyncDispose]() {},
  };
}

describe('bellman parameters of published sizes', () => {
  it.each(PUBLISHED)('%s', async (_, name, h, l, a, b, size) => {
    const head = load(golden(`${name}-2kib.vk`));
    const parts = new Map<number, Uint8Array>([[0, head]]);
    let at = head.length;
    for (const [count, pointBytes] of [
      [h, 96],
      [l, 96],
      [a, 96],
      [b, 96],
      [b, 192],
    ] as const) {
      parts.set(at, withU32(new Uint8Array(4), 0, count, false));
      at += 4 + count * pointBytes;
    }
    expect(at).toBe(size);
    const key = await readParameters(sparse(size, parts), '/k.params');
    expect(key).toMatchObject({ h: { count: h }, l: { count: l }, a: { count: a } });
    expect([key.bG1.count, key.bG2.count, 2 ** key.logN - 1]).toEqual([b, b, h]);
    expect(key.bG2.slice.offset + key.bG2.slice.length).toBe(size);
    await refusal(readParameters(sparse(size - 1, parts), '/k.params'));
    await refusal(readParameters(sparse(size + 1, parts), '/k.params'));
  });
});

describe('bellman verifying key', () => {
  it.each(['tiny', 'window-2kib', 'winning-2kib', 'snap-2kib', 'porep-2kib'])(
    '%s.vk reads and is written with the same bytes',
    async (name) => {
      const bytes = load(golden(`${name}.vk`));
      const answers = json(golden(`${name}.known.json`));
      expect([bytes.length, sha256(bytes)]).toEqual([answers.vk_bytes, answers.vk_sha256]);
      const key = await readVk(bytes);
      expect(key.verifyingKey.ic).toHaveLength(json(golden(`${name}.json`)).inputs);
      expect(await collect(writeVerifyingKey(key))).toEqual(bytes);
    },
  );

  it('is the head of the parameters', async () => {
    const { verifyingKey, betaG1, deltaG1 } = await readKey(params);
    expect({ verifyingKey, betaG1, deltaG1 }).toEqual(await readVk(vk));
    expect(params.subarray(0, vk.length)).toEqual(vk);
  });

  it('refuses every other length', async () => {
    for (let length = 0; length < vk.length; length += length < 850 ? 50 : 7) {
      await refusal(readVk(vk.subarray(0, length)));
    }
    await refusal(readVk(concatBytes(vk, new Uint8Array(1))));
    await refusal(readVk(params));
  });

  it('refuses a bad point, naming it', async () => {
    const names = ['alpha', 'beta in G1', 'beta in G2', 'gamma', 'delta in G1', 'delta in G2'];
    const sizes = [96, 96, 192, 192, 96, 192];
    let at = 0;
    for (const [i, name] of [...names, 'ic[0]'].entries()) {
      if (name === 'ic[0]') at += 4;
      const size = sizes[i] ?? 96;
      const last = at + size - 1;
      const subject = `k.vk: ${name}: `;
      const expectRefusal = async (bytes: Uint8Array, text: string) => {
        const message = await refusal(readVk(bytes));
        expect(message.startsWith(subject)).toBe(true);
        expect(message).toContain(text);
      };
      await expectRefusal(vk.with(last, (vk[last] as number) ^ 1), 'off the curve');
      await expectRefusal(vk.with(at, 0xff), 'infinity');
      await expectRefusal(vk.with(at, 0x3f), 'below the field modulus');
      await expectRefusal(
        vk
          .slice()
          .fill(0, at, at + size)
          .with(at, 0x40),
        'infinity',
      );
      await expectRefusal(vk.slice().fill(0, at, at + size), 'the origin');
      at += size;
    }
  });

  it('refuses a point of the curve outside the group', async () => {
    const { Fp } = BLS_G1.Point;
    const outside = Array.from({ length: 30 }, (_, x) => BigInt(x))
      .map((x) => ({ x, y2: Fp.add(Fp.mul(Fp.sqr(x), x), 4n) }))
      .filter(({ y2 }) => Fp.eql(Fp.pow(y2, (Fp.ORDER - 1n) / 2n), 1n))
      .map(({ x, y2 }) => BLS_G1.Point.fromAffine({ x, y: Fp.sqrt(y2) }))
      .find((point) => !point.isTorsionFree());
    const { x, y } = (outside as NonNullable<typeof outside>).toAffine();
    const hex = (n: bigint) => n.toString(16).padStart(96, '0');
    const bytes = vk.slice();
    bytes.set(fromHex('point', hex(x) + hex(y)), 0);
    expect(await refusal(readVk(bytes))).toContain('alpha: expected a point of bls12-381 G1');
    expect(await refusal(readVk(bytes))).toContain('outside the group');
  });

  it('needs the point of the constant, and bounds their number', async () => {
    const none = concatBytes(vk.subarray(0, HEAD), new Uint8Array(4));
    expect(await refusal(readVk(none))).toContain(`ic: expected 1 to ${INPUTS_MAX} points, got 0`);
    const ic = vk.subarray(HEAD + 4, HEAD + 100);
    const many = concatBytes(
      withU32(vk.subarray(0, HEAD + 4), HEAD, INPUTS_MAX + 1, false),
      ...Array.from({ length: INPUTS_MAX + 1 }, () => ic),
    );
    expect(await refusal(readVk(many))).toContain(`got ${INPUTS_MAX + 1}`);
  });

  it.for([
    ['sapling-output.vk', 6],
    ['sprout-groth16.vk', 10],
  ] as const)('reads %s of Zcash', async ([name, inputs], context) => {
    await using source = await openFile(vector(context, `zcash-bls12_381/${name}`));
    const key = await readVerifyingKey(source);
    expect(key.verifyingKey.ic).toHaveLength(inputs);
    expect(await collect(writeVerifyingKey(key))).toEqual(await source.read(0, source.size));
  });
});

describe('bellman proof', () => {
  const proof = load(golden('tiny.proof'));

  it.each(['tiny', 'window-2kib', 'winning-2kib', 'snap-2kib', 'porep-2kib'])(
    '%s.proof reads and is written with the same bytes',
    (name) => {
      const bytes = load(golden(`${name}.proof`));
      expect(toHex(bytes)).toBe(json(golden(`${name}.known.json`)).proof_hex);
      const { a, b, c } = readProof('proof', bytes);
      checkPoint(BLS_G1, 'a', pointFromForm(BLS_G1, 'canonical-be', 'a', a));
      checkPoint(BLS_G2, 'b', pointFromForm(BLS_G2, 'canonical-be', 'b', b));
      expect(writeProof({ curve: 'bls12-381', a, b, c })).toEqual(bytes);
    },
  );

  it('refuses other lengths and names the bad point', () => {
    for (const length of [0, 1, 191]) {
      expect(() => readProof('proof', proof.subarray(0, length))).toThrow('expected 192 bytes');
    }
    expect(() => readProof('proof', new Uint8Array(193))).toThrow('got 193');
    for (const [at, name] of [
      [0, 'A'],
      [48, 'B'],
      [144, 'C'],
    ] as const) {
      const bytes = proof.with(at, (proof[at] as number) ^ 0x80);
      expect(() => readProof('proof', bytes)).toThrow(`proof: ${name}: expected`);
    }
  });

  it('splits the proof of several partitions', () => {
    const other = load(golden('snap-2kib.proof'));
    const both = concatBytes(proof, other);
    const proofs = readProofs('proof', both, 2);
    expect(proofs.map(writeProof)).toEqual([proof, other]);
    expect(() => readProofs('proof', both, 1)).toThrow('expected 192 bytes, got 384');
    expect(() => readProofs('proof', both, 3)).toThrow('expected 576 bytes, got 384');
    const bad = both.with(PROOF_BYTES, 0);
    expect(() => readProofs('proof', bad, 2)).toThrow('proof: partition 1: A: expected');
  });

  it('reads the proof and the compressed points of polka-storage', (context) => {
    const file = json(vector(context, 'filecoin/polka-2kib/porep-2KiB.json'));
    const bytes = fromHex('proof', file.proof_hex);
    expect(writeProof(readProof('proof', bytes))).toEqual(bytes);
    const key = fromHex('key', file.vk_compressed_hex);
    expect(viewOf(key).getUint32(432)).toBe(file.public_inputs_decimal.length + 1);
    const g1 = [0, 48, 288, ...Array.from({ length: 40 }, (_, i) => 436 + 48 * i)];
    for (const at of g1) decompress(BLS_G1, `G1 at ${at}`, key.subarray(at, at + 48));
    for (const at of [96, 192, 336]) decompress(BLS_G2, `G2 at ${at}`, key.subarray(at, at + 96));
    expect(436 + 48 * 40).toBe(key.length);
  });

  it('reads the proof of the Sprout JoinSplit', (context) => {
    const { proof_hex } = json(vector(context, 'zcash-bls12_381/sprout-joinsplit.json'));
    const bytes = fromHex('proof', proof_hex);
    expect(writeProof(readProof('proof', bytes))).toEqual(bytes);
  });
});
