import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonError, parseJson } from '../../../src/core/json.ts';

const encode = (text: string) => new TextEncoder().encode(text);
const wide = { levels: 1000, values: 1_000_000, names: 1_000_000 };
const parse = (text: string, limits = {}) => parseJson(encode(text), { ...wide, ...limits });

it('parses what JSON.parse does', () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(4), (text, spaces) => {
      const value = JSON.parse(text);
      expect(parse(text)).toEqual(value);
      expect(parse(JSON.stringify(value, null, spaces))).toEqual(value);
    }),
  );
});

it.each(['', '{', 'secret', '["1",]', '"\\', '"\\"', ']]]]', '{"a"}', '"\ud800'.slice(0, 1)])(
  'refuses %j without quoting it',
  (text) => {
    expect(() => parse(text)).toThrow(new JsonError('JSON'));
  },
);

it('refuses what is not UTF-8', () => {
  expect(() => parseJson(Uint8Array.of(0x22, 0xff, 0x22), wide)).toThrow('expected JSON');
});

describe.each([
  ['levels', 8, (n: number) => '['.repeat(n) + ']'.repeat(n)],
  ['levels', 8, (n: number) => `${'{"a":'.repeat(n - 1)}{}${'}'.repeat(n - 1)}`],
  [
    'values',
    7,
    (n: number) =>
      `[${Array(n - 1)
        .fill('1')
        .join()}]`,
  ],
  [
    'values',
    7,
    (n: number) =>
      `[${Array(n - 1)
        .fill('"a,[{"')
        .join()}]`,
  ],
  ['names', 5, (n: number) => `{${Array.from({ length: n }, (_, i) => `"\\\\${i}:":1`).join()}}`],
])('%s', (limit, max, text) => {
  it(`at ${max} and one more`, () => {
    expect(parse(text(max), { [limit]: max })).toEqual(JSON.parse(text(max)));
    const refused = new JsonError(`JSON of at most ${max} ${limit}`);
    expect(() => parse(text(max + 1), { [limit]: max })).toThrow(refused);
  });
});

it.each([
  ['levels', '['.repeat(4_000_000)],
  ['values', `[${'[],'.repeat(1_300_000)}1]`],
  ['names', `{${'"":1,'.repeat(800_000)}"":1}`],
  ['an open string', `"${'\\"'.repeat(2_000_000)}`],
])('takes little time to refuse 4 MB of %s', (_, text) => {
  const bytes = encode(text);
  const before = process.cpuUsage();
  const limits = { levels: 32, values: 100_000, names: 5_000 };
  expect(() => parseJson(bytes, limits)).toThrow(JsonError);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(500);
});
