import { expect, it } from 'vitest';
import { syntheticRule } from '../../../../src/circuits/filecoin/porep-challenges.ts';
import { sectorConfig } from '../../../../src/circuits/filecoin/sector-size.ts';
import { snapChallenges } from '../../../../src/circuits/filecoin/snap-challenges.ts';
import { fromHex, readBigIntLE, writeBigIntLE } from '../../../../src/core/bytes.ts';

/** storage-proofs-porep, stacked/vanilla/challenges.rs, test_synth_challenges_against_hardcoded. */
it('picks the synthetic challenges of the reference', () => {
  const [replicaId, commR] = [writeBigIntLE(55n, 32), writeBigIntLE(101n, 32)];
  const seed = new Uint8Array(32).fill(1);
  const rule = syntheticRule(replicaId, commR, seed, 1024, 21);
  const picked = Array.from({ length: 10 }, (_, i) => rule(i));
  expect(picked).toEqual([176, 781, 801, 986, 290, 211, 692, 856, 986, 332]);
});

/** storage-proofs-update, challenges.rs, test_challenges_against_hardcoded. */
const COMM_R_NEW = readBigIntLE(
  fromHex('comm_r', '101cbe4b9c42604f04c703c396f788c6cb2d6d7d58f45430b12eb2edd640076c'),
);
const FULL = sectorConfig('32GiB');
it.each([
  ['2KiB', sectorConfig('2KiB'), 0, [53, 51, 56, 3, 0]],
  ['8MiB', sectorConfig('8MiB'), 1, [78878, 130797, 112892, 93994, 78379]],
  ['512MiB', sectorConfig('512MiB'), 15, [16388544, 15794686, 16637142, 16319148, 16328348]],
  ['32GiB', FULL, 0, [1019125, 27985696, 15282860, 11586600, 44651330]],
  ['32GiB', FULL, 15, [1038629497, 1053983614, 1030421316, 1027373887, 1068685433]],
  [
    '64GiB',
    sectorConfig('64GiB'),
    15,
    [2045262457, 2036941247, 2136653521, 2091356007, 2147167623],
  ],
  ['1KiB', small(1, 1), 0, [21, 7, 3, 31, 0]],
  ['8KiB', small(8, 1), 0, [245, 140, 15, 128, 28]],
  ['16KiB', small(16, 2), 1, [286, 308, 493, 510, 508]],
])('draws the update challenges of the reference: %s', (_, config, partition, expected) => {
  expect(snapChallenges(config, COMM_R_NEW, partition).slice(0, 5)).toEqual(expected);
});

function small(kib: number, partitions: number) {
  const config = sectorConfig('2KiB');
  return { ...config, nodes: 32 * kib, snapDeals: { ...config.snapDeals, partitions } };
}
