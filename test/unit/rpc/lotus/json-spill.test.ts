import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  LONG_STRING_CHARS,
  readSpilling,
  type SpilledText,
  TEXT_BYTES_MAX,
} from '../../../../src/rpc/lotus/json-spill.ts';
import { sha256 } from '../../../support/lotus.ts';

const MIB = 1024 * 1024;

async function* inChunks(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

function read(text: string | Uint8Array, chunk = 65_536, bytesMax = 64 * MIB) {
  return readSpilling(inChunks(Buffer.from(text), chunk), {
    bytesMax,
    spill: async (bytes) => sha256(await buffer(Readable.from(bytes))),
  });
}

/** The value, a digest in place of each long string. */
function parsed({ text, spilled }: SpilledText<string>): unknown {
  return JSON.parse(text.toString(), (_, value) => {
    const aside = spilled.get(value);
    if (aside === undefined) return value;
    return 'value' in aside ? { spilled: aside.value } : { error: String(aside.error) };
  });
}

const LONG = Buffer.alloc(13_000, 'proof');

describe('long strings of JSON', () => {
  it.each([1, 1000, 65_536])('go aside, decoded, in chunks of %d', async (chunk) => {
    const text = JSON.stringify({ a: [1, 'short \\ "q"', LONG.toString('base64')], b: 'x' });
    const value = parsed(await read(text, chunk));
    expect(value).toEqual({ a: [1, 'short \\ "q"', { spilled: sha256(LONG) }], b: 'x' });
  });

  it.each([
    ['a slash', (base64: string) => base64.replaceAll('/', '\\/')],
    ['a code', (base64: string) => base64.replaceAll('+', '\\u002B')],
    ['ends of lines', (base64: string) => base64.replaceAll(/(.{76})/g, '$1\\r\\n')],
  ])('may have %s escaped', async (_, escaped) => {
    const bytes = Buffer.from(Array.from({ length: 30_000 }, (_, i) => (i * i) >> 3));
    const text = `["${escaped(bytes.toString('base64'))}"]`;
    for (const chunk of [7, 777, 65_536]) {
      expect(parsed(await read(text, chunk))).toEqual([{ spilled: sha256(bytes) }]);
    }
  });

  it.each([
    ['another character', `${'A'.repeat(20_000)}!${'A'.repeat(79_999)}`, 20_000],
    ['a part of a group', 'A'.repeat(20_001), 20_000],
    ['more after the padding', `${'A'.repeat(19_998)}==AAAA`, 20_000],
    ['an escape that is none', `${'A'.repeat(20_000)}\\\\AA`, 20_000],
  ])('with %s are no base64, and the rest is read', async (_, string, at) => {
    const value = parsed(await read(`{"a":"${string}","b":[true]}`)) as Record<string, unknown>;
    const error = `Base64Error: illegal base64 data at input byte ${at}`;
    expect(value).toEqual({ a: { error }, b: [true] });
  });

  it('are long from one length on', async () => {
    const short = 'A'.repeat(LONG_STRING_CHARS);
    expect(parsed(await read(JSON.stringify([short])))).toEqual([short]);
    expect((await read(JSON.stringify([`${short}AAAA`]))).spilled.size).toBe(1);
  });

  it('take what spilling throws with them', async () => {
    const source = inChunks(Buffer.from(JSON.stringify([LONG.toString('base64'), 7])), 65_536);
    const spill = () => Promise.reject(new Error('disk full'));
    const text = await readSpilling(source, { bytesMax: MIB, spill });
    expect(parsed(text as never)).toEqual([{ error: 'Error: disk full' }, 7]);
  });

  it('are bounded, as the rest is', async () => {
    const fits = JSON.stringify([LONG.toString('base64')]);
    await read(fits, 1000, fits.length);
    await expect(read(fits, 1000, fits.length - 1)).rejects.toThrow(
      `request bigger than maximum ${fits.length - 1} allowed`,
    );
    await read(' '.repeat(TEXT_BYTES_MAX));
    await expect(read(' '.repeat(TEXT_BYTES_MAX + 1))).rejects.toThrow('request bigger');
  });

  it('pass on what the source throws', async () => {
    async function* torn(): AsyncGenerator<Uint8Array> {
      yield Buffer.from(`["${LONG.toString('base64')}`);
      throw new Error('gone');
    }
    const spill = (bytes: AsyncIterable<Uint8Array>) => buffer(Readable.from(bytes));
    await expect(readSpilling(torn(), { bytesMax: MIB, spill })).rejects.toThrow('gone');
  });

  it('leave every other text as it is', async () => {
    const property = fc.asyncProperty(
      fc.json(),
      fc.integer({ min: 1, max: 40 }),
      async (json, chunk) => {
        const { text, spilled } = await read(json, chunk);
        expect(text.toString()).toBe(json);
        expect(spilled.size).toBe(0);
      },
    );
    await fc.assert(property, { numRuns: 60 });
    for (const broken of ['', '"', '["\\', '{"a', '\\"', '"\\\\"x"']) {
      const { text } = await read(broken, 1);
      expect(text.toString().startsWith(broken)).toBe(true);
    }
  });
});
