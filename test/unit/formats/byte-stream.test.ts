import { describe, expect, it } from 'vitest';
import { equalBytes } from '../../../src/core/bytes.ts';
import { MIB } from '../../../src/core/units.ts';
import { inLargePieces, recordBytes } from '../../../src/formats/byte-stream.ts';
import { collect, listOf } from './samples.ts';

describe('byte stream', () => {
  it('joins small pieces, keeping order and bytes', async () => {
    const parts = Array.from({ length: 50_000 }, (_, i) => new Uint8Array(64).fill(i));
    const pieces = await listOf(inLargePieces(parts));
    expect(pieces.map((piece) => piece.length)).toEqual([MIB, MIB, MIB, 50_000 * 64 - 3 * MIB]);
    expect(equalBytes(await collect(pieces), await collect(parts))).toBe(true);
    expect(await listOf(inLargePieces([]))).toEqual([]);
  });

  it.each([1, 3])('refuses %i records where 2 were announced', async (count) => {
    const records = { count: 2, bytes: [new Uint8Array(32 * count)] };
    await expect(collect(recordBytes(records, 32))).rejects.toThrow('expected 64 bytes');
  });
});
