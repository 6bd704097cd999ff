import { describe, expect, it } from 'vitest';
import { concatBytes, viewOf } from '../../../src/core/bytes.ts';
import { fromBytes } from '../../../src/core/source.ts';
import {
  readContainer,
  readSmallSection,
  requireSection,
  writeContainer,
} from '../../../src/formats/container.ts';
import { collect, refusal, sectionsOf, watched, withU32 } from './samples.ts';

const read = (bytes: Uint8Array) => readContainer(fromBytes('a.test', bytes), 'test', 3);
const content = (id: number, bytes: readonly number[]) => ({
  id,
  length: bytes.length,
  bytes: [Uint8Array.from(bytes)],
});
const sample = () =>
  collect(writeContainer('test', 3, [content(2, [1, 2, 3]), content(1, []), content(99, [4])]));

describe('container', () => {
  it('reads the sections that were written, in any order, unknown ones too', async () => {
    const container = await read(await sample());
    expect([...container.sections.keys()]).toEqual([2, 1, 99]);
    expect(await readSmallSection(container, 2, 3)).toEqual(Uint8Array.of(1, 2, 3));
    expect(requireSection(container, 1, 0).length).toBe(0);
  });

  it('reads nothing but the headers, and accepts bytes after the last section', async () => {
    const large = await collect(
      writeContainer('test', 3, [{ id: 7, length: 3_000_000, bytes: [new Uint8Array(3_000_000)] }]),
    );
    const source = watched(concatBytes(large, new Uint8Array(16)));
    await readContainer(source, 'test', 3);
    expect(source.largestRead).toBe(12);
  });

  it('refuses another magic, another version and an empty file', async () => {
    const bytes = await sample();
    expect(await refusal(read(bytes.with(0, 0x54)))).toBe(
      'a.test: expected a test file, got another file',
    );
    expect(await refusal(read(withU32(bytes, 4, 4)))).toBe('a.test: version: expected 3, got 4');
    for (let length = 0; length < 12; length++) {
      expect(await refusal(read(bytes.subarray(0, length)))).toContain(`got ${length} bytes`);
    }
  });

  it('refuses every truncation', async () => {
    const bytes = await sample();
    for (let length = 12; length < bytes.length; length++) {
      await refusal(read(bytes.subarray(0, length)));
    }
  });

  it('refuses a duplicate, and takes 64 sections but not 65', async () => {
    const many = (ids: number[]) =>
      collect(
        writeContainer(
          'test',
          3,
          ids.map((id) => content(id, [])),
        ),
      );
    const ids = Array.from({ length: 65 }, (_, i) => i);
    expect((await read(await many(ids.slice(1)))).sections.size).toBe(64);
    expect(await refusal(read(await many(ids)))).toContain('at most 64, got 65');
    expect(await refusal(read(await many([5, 5])))).toContain('section 5');
    expect(await refusal(read(withU32(await sample(), 8, 2 ** 32 - 1)))).toContain('at most 64');
  });

  it.each([2n ** 62n, 2n ** 64n - 1n, 2n ** 53n])(
    'refuses a section of %i bytes',
    async (length) => {
      const bytes = await sample();
      const [first] = sectionsOf(bytes);
      viewOf(bytes).setBigUint64((first?.header as number) + 4, length, true);
      expect(await refusal(read(bytes))).toContain(`got a length of ${length}`);
    },
  );

  it('refuses a missing section, one of another length and one above its limit', async () => {
    const container = await read(await sample());
    expect(() => requireSection(container, 4)).toThrow('a.test: section 4: expected');
    expect(() => requireSection(container, 2, 4)).toThrow('expected 4 bytes, got 3');
    await refusal(readSmallSection(container, 2, 2));
  });

  it('does not write a section whose content has another length than announced', async () => {
    const lying = { id: 1, length: 2, bytes: [Uint8Array.of(1)] };
    await expect(collect(writeContainer('test', 3, [lying]))).rejects.toThrow('expected 2 bytes');
  });
});
