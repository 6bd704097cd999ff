import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { CircuitKind } from '../../../../src/circuits/filecoin/circuits.ts';
import { SECTOR_SIZES, type SectorSize } from '../../../../src/circuits/filecoin/sector-size.ts';
import { hashRows } from '../../../../src/r1cs/program-hashes.ts';
import { countBits, countsOf, densitiesOf } from '../../../../src/r1cs/program-shape.ts';
import { golden } from '../../../support/shared.ts';
import { goldenJson, programFor } from '../../../support/vanilla.ts';
import { quietPacer } from '../harness.ts';

const KINDS: Readonly<Record<string, CircuitKind>> = {
  porep: 'porep',
  snap: 'snap-deals',
  window: 'window-post',
  winning: 'winning-post',
};
/** Circuits of more than a hundred million rows: test/large. */
const LARGE = /^(porep|window|snap)-(32|64)gib|^snap-512mib/;
const SMALL_ENOUGH = readdirSync(golden('shapes')).filter((file) => !LARGE.test(file));

describe.each(SMALL_ENOUGH)('%s', (file) => {
  const [name, size] = file.replace('.json', '').split('-') as [string, string];
  const sectorSize = SECTOR_SIZES.find((each) => each.toLowerCase() === size) as SectorSize;
  const kind = KINDS[name] as CircuitKind;

  it('has the reference’s counts and rows', async () => {
    const program = programFor(kind, sectorSize);
    const counts = countsOf(program);
    const { a, b } = await densitiesOf(program, quietPacer());
    expect({
      aux: counts.aux,
      constraints: counts.constraints,
      dA: countBits(a.aux),
      dB: countBits(b.aux),
      inputs: counts.inputs,
      nnz_incl_input_rows: counts.nonZero,
      r1cs_rows_sha256: await hashRows(program, quietPacer()),
      rows: counts.rows,
    }).toMatchObject(goldenJson(`shapes/${file}`));
    expect(countBits(b.inputs)).toBe(1);
  });
});
