import { readdirSync } from 'node:fs';
import type { CircuitKind } from '../../src/circuits/filecoin/circuits.ts';
import { SECTOR_SIZES, type SectorSize } from '../../src/circuits/filecoin/sector-size.ts';
import { Pacer } from '../../src/math/pacer.ts';
import { hashRows } from '../../src/r1cs/program-hashes.ts';
import { countBits, countsOf, densitiesOf } from '../../src/r1cs/program-shape.ts';
import { golden } from './shared.ts';
import { programFor } from './vanilla.ts';

const KINDS: Readonly<Record<string, CircuitKind>> = {
  porep: 'porep',
  snap: 'snap-deals',
  window: 'window-post',
  winning: 'winning-post',
};
/** Circuits of fifty million rows and more. */
const LARGE = /^(porep|window|snap)-(32|64)gib|^snap-512mib/;
const SHAPES = readdirSync(golden('shapes'));

export const LARGE_SHAPES = SHAPES.filter((file) => LARGE.test(file));
export const SMALL_SHAPES = SHAPES.filter((file) => !LARGE.test(file));

/** What a file of `golden/shapes` says of a circuit, as we have it. */
export async function shapeOf(file: string) {
  const [name, size] = file.replace('.json', '').split('-') as [string, string];
  const sectorSize = SECTOR_SIZES.find((each) => each.toLowerCase() === size) as SectorSize;
  const program = programFor(KINDS[name] as CircuitKind, sectorSize);
  const pacer = new Pacer(new AbortController().signal);
  const counts = countsOf(program);
  const { a, b } = await densitiesOf(program, pacer);
  return {
    aux: counts.aux,
    constraints: counts.constraints,
    dA: countBits(a.aux),
    dB: countBits(b.aux),
    dBin: countBits(b.inputs),
    inputs: counts.inputs,
    nnz_incl_input_rows: counts.nonZero,
    r1cs_rows_sha256: await hashRows(program, pacer),
    rows: counts.rows,
  };
}
