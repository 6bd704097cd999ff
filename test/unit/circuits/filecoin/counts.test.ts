import { describe, expect, it } from 'vitest';
import { porepProgram } from '../../../../src/circuits/filecoin/porep.ts';
import { windowPostProgram } from '../../../../src/circuits/filecoin/post.ts';
import { type SectorConfig, sectorConfig } from '../../../../src/circuits/filecoin/sector-size.ts';
import { snapDealsProgram } from '../../../../src/circuits/filecoin/snap-deals.ts';
import { readProgram } from '../../../../src/r1cs/program.ts';
import { countsOf } from '../../../../src/r1cs/program-shape.ts';

/** Counts that rust-fil-proofs' own tests assert, of circuits that no sector has. */
const TEST = sectorConfig('2KiB');

function withTree(config: SectorConfig, treeArities: readonly number[]): SectorConfig {
  const nodes = treeArities.reduce((x, y) => x * y);
  return {
    ...{ ...config, nodes, treeArities },
    dataArities: new Array<number>(Math.log2(nodes)).fill(2),
  };
}

const countsIn = (bytes: Uint8Array) => countsOf(readProgram(bytes));

it.each([
  [[2, 2, 2], 1_206_212],
  [[8], 1_199_620],
  [[8, 4], 1_296_576],
  [[8, 4, 2], 1_346_982],
])('PoRep of one challenge over a tree of %j has %i constraints', (treeArities, constraints) => {
  const config = withTree(TEST, treeArities);
  const one = { ...config, porep: { ...TEST.porep, challengesPerPartition: 1 } };
  expect(countsIn(porepProgram(one))).toMatchObject({ inputs: 22, constraints });
});

it.each([
  [3, 5, [8, 8], 19, 16_869],
  [3, 5, [8, 8, 4], 19, 22_674],
  [3, 5, [8, 8, 4, 2], 19, 27_384],
  [2, 5, [8, 8], 13, 11_246],
  [5, 10, new Array(10).fill(8), 56, 266_665],
])('PoSt of %i sectors, %i challenges, tree %j', (sectors, challenges, tree, inputs, rows) => {
  const windowPost = { sectorsPerPartition: sectors, challenges };
  const config = { ...withTree(TEST, tree), windowPost };
  expect(countsIn(windowPostProgram(config))).toMatchObject({ inputs, constraints: rows });
});

describe('SnapDeals', () => {
  it.each([
    [1, [8, 4], 1_248_389],
    [2, [8, 8], 1_705_039],
    [4, [8, 8, 2], 2_165_109],
    [8, [8, 8, 4], 2_620_359],
    [16, [8, 8, 8], 6_300_021],
    [32, [8, 8, 8, 2], 6_760_091],
  ])('of %i KiB', (kib, treeArities, constraints) => {
    const config = withTree(TEST, treeArities);
    const many = { ...TEST.snapDeals, partitions: 2, apexLeaves: 128 };
    const snapDeals = kib > 8 ? many : TEST.snapDeals;
    const program = snapDealsProgram({ ...config, snapDeals });
    expect(countsIn(program)).toMatchObject({ inputs: 5, constraints });
  });

  it('of 32 GiB', () => {
    const program = snapDealsProgram(sectorConfig('32GiB'));
    expect(countsIn(program)).toMatchObject({ constraints: 81_049_499, aux: 80_978_488 });
  });
});

it('records a partition of 32 GiB in under 10 s', () => {
  const begin = process.cpuUsage();
  const counts = countsIn(porepProgram(sectorConfig('32GiB')));
  const { user, system } = process.cpuUsage(begin);
  // What Curio measured of the real circuit.
  expect(counts).toMatchObject({
    ...{ inputs: 328, aux: 130_169_893, rows: 130_278_869 },
    nonZero: [309_405_051, 130_327_340, 282_656_500],
  });
  expect((user + system) / 1e6).toBeLessThan(10);
});
