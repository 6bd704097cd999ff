import { expect, it } from 'vitest';
import { fromBytes } from '../../../src/core/source.ts';
import { parseStatement } from '../../../src/formats/statement.ts';
import { readPrivateInputs } from '../../../src/formats/vanilla-inputs.ts';
import { Pacer } from '../../../src/math/pacer.ts';
import { goldenBytes } from '../../support/vanilla.ts';

const read = (name: string, vanilla: readonly string[]) =>
  readPrivateInputs(
    parseStatement(JSON.parse(Buffer.from(goldenBytes(`${name}.statement.json`)).toString())),
    vanilla.map((file, i) => fromBytes(`${i}.bin`, goldenBytes(file))),
    0,
    new Pacer(new AbortController().signal),
  );
const [first, second] = [1, 2].map((sector) => `window-2kib-vanilla-sector${sector}.bin`) as [
  string,
  string,
];
const foreign = 'variants/window-2kib-3sectors-vanilla-sector23.bin';

it('takes the sectors of a WindowPoSt in any order', async () => {
  expect(await read('window-2kib', [second, first])).toEqual(
    await read('window-2kib', [first, second]),
  );
});

it.each([
  [
    'window-2kib',
    [first, second, first],
    '2.bin: sector_id: expected each sector once, got 1 again',
  ],
  [
    'window-2kib',
    [first, foreign, second],
    '1.bin: sector_id: expected a sector of the statement, got 23',
  ],
  [
    'winning-2kib',
    ['winning-2kib-vanilla.bin', 'winning-2kib-vanilla.bin'],
    'vanilla: expected 1 file, got 2',
  ],
])('refuses what a %s has no use for: %#', async (name, vanilla, message) => {
  await expect(read(name, vanilla)).rejects.toThrow(message);
});
