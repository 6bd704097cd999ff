import { readdirSync } from 'node:fs';
import type { CircuitKind } from '../../src/circuits/filecoin/circuits.ts';
import { SECTOR_SIZES, type SectorSize } from '../../src/circuits/filecoin/sector-size.ts';
import { officialBySize } from '../../src/formats/official-keys.ts';
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

type Shape = Awaited<ReturnType<typeof shapeOf>>;

/** The circuit whose official parameters are as large as those of this one would be. */
export function officialOfShape(shape: Shape) {
  const { inputs, aux, dA, dB, dBin, domain } = shape;
  const [counts, verifyingKeyHead, g1, g2] = [6 * 4, 3 * 96 + 3 * 192, 96, 192];
  const inG1 = inputs + (domain - 1) + aux + (inputs + dA) + (dBin + dB);
  const found = officialBySize(verifyingKeyHead + counts + g1 * inG1 + g2 * (dBin + dB));
  return { kind: found?.circuit, sectorSize: found?.sectorSize };
}

/** What circuit a file of `golden/shapes` is of. */
export function circuitOfShape(file: string) {
  const [name, size] = file.replace('.json', '').split('-') as [string, string];
  const sectorSize = SECTOR_SIZES.find((each) => each.toLowerCase() === size) as SectorSize;
  return { kind: KINDS[name] as CircuitKind, sectorSize };
}

/** What it says, as we have it. */
export async function shapeOf(file: string) {
  const { kind, sectorSize } = circuitOfShape(file);
  const program = programFor(kind, sectorSize);
  const pacer = new Pacer(new AbortController().signal);
  const counts = countsOf(program);
  const { a, b } = await densitiesOf(program, pacer);
  return {
    aux: counts.aux,
    constraints: counts.constraints,
    dA: countBits(a.aux),
    dB: countBits(b.aux),
    dBin: countBits(b.inputs),
    domain: counts.domain,
    inputs: counts.inputs,
    nnz_incl_input_rows: counts.nonZero,
    r1cs_rows_sha256: await hashRows(program, pacer),
    rows: counts.rows,
  };
}
