import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it, type TestContext } from 'vitest';
import { checkPorepHead, checkPorepPartition } from '../../src/circuits/filecoin/check-porep.ts';
import { partitionsOf } from '../../src/circuits/filecoin/public-inputs.ts';
import type { PorepStatement } from '../../src/circuits/filecoin/statement.ts';
import { openFile } from '../../src/core/source.ts';
import { MIB } from '../../src/core/units.ts';
import { readC1 } from '../../src/formats/c1.ts';
import { Pacer } from '../../src/math/pacer.ts';
import { temporaryPath } from '../support/key-files.ts';
import { largeGolden } from '../support/shared.ts';
import { goldenStatement } from '../support/vanilla.ts';

/** Ten partitions of 18 challenges: 39 MB bare, 51 MB wrapped. */
describe('the first-phase output of a 32 GiB sector', () => {
  const pacer = new Pacer(new AbortController().signal);
  const bareOf = (context: TestContext) =>
    gunzipSync(readFileSync(largeGolden(context, 'porep-32gib-c1.json.gz')));

  it('is read in bounded memory', async (context) => {
    const path = await temporaryPath('c1.json');
    await writeFile(path, wrapped(bareOf(context)));
    await using source = await openFile(path);
    expect(source.size).toBeGreaterThan(49 * MIB);
    let peak = 0;
    const before = process.memoryUsage();
    const watch = setInterval(() => {
      const { heapUsed, arrayBuffers } = process.memoryUsage();
      peak = Math.max(peak, heapUsed + arrayBuffers - before.heapUsed - before.arrayBuffers);
    }, 5);
    const c1 = await readC1(source, { keep: () => false });
    clearInterval(watch);
    expect(c1.partitions).toHaveLength(10);
    // Of garbage, mostly.
    expect(peak).toBeLessThan(128 * MIB);
  });

  it('is what its statement says, in every value', async (context) => {
    const path = await temporaryPath('c1.json');
    await writeFile(path, bareOf(context));
    const statement = goldenStatement('porep-32gib') as PorepStatement;
    await using source = await openFile(path);
    const c1 = await readC1(source);
    checkPorepHead(statement, c1);
    expect(c1.partitions).toHaveLength(partitionsOf(statement));
    for (const [i, challenges] of c1.partitions.entries()) {
      await checkPorepPartition(statement, i, challenges, pacer);
    }
  });
});

function wrapped(bare: Buffer): string {
  const Phase1Out = bare.toString('base64');
  return JSON.stringify({ SectorNum: 7, Phase1Out, SectorSize: 32 * 1024 * MIB });
}
