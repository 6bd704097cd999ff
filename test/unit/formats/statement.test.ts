import { describe, expect, it } from 'vitest';
import { partitionsOf } from '../../../src/circuits/filecoin/public-inputs.ts';
import { registeredProof } from '../../../src/circuits/filecoin/registered-proof.ts';
import { SECTOR_SIZES } from '../../../src/circuits/filecoin/sector-size.ts';
import type { PorepStatement, PostStatement } from '../../../src/circuits/filecoin/statement.ts';
import { toHex } from '../../../src/core/bytes.ts';
import { parseStatement, SECTORS_MAX } from '../../../src/formats/statement.ts';
import { R } from '../../../src/r1cs/linear-combination.ts';
import { goldenJson } from '../../support/vanilla.ts';

const POREP = goldenJson('porep-2kib.statement.json');
const WINDOW = goldenJson('window-2kib.statement.json');
const WINNING = goldenJson('winning-2kib.statement.json');
const SNAP = goldenJson('snap-2kib.statement.json');
const hex = (value: bigint) =>
  Buffer.from(value.toString(16).padStart(64, '0'), 'hex').reverse().toString('hex');

describe('a registered proof', () => {
  const SUFFIXES = ['V1', 'V1_1', 'V1_1_Feat_SyntheticPoRep', 'V1_2_Feat_NonInteractivePoRep'];
  const seals = SUFFIXES.flatMap((suffix, family) =>
    SECTOR_SIZES.map((size, i) => [5 * family + i, `StackedDrg${size}${suffix}`] as const),
  );

  it.each(seals)('of replication is known by number %i and name %s', (number, name) => {
    const byNumber = registeredProof('proof', 'porep', number);
    expect(byNumber).toMatchObject({ number, name });
    expect(registeredProof('proof', 'porep', name)).toEqual(byNumber);
    const feature = ['interactive', 'interactive', 'synthetic', 'non-interactive'];
    expect(byNumber.feature).toBe(feature[Math.floor(number / 5)]);
    expect(byNumber.graph.predecessorFirst).toBe(number >= 5);
  });

  it.each([
    ['winning-post', 3, 'StackedDrgWinning32GiBV1', true],
    ['window-post', 8, 'StackedDrgWindow32GiBV1', true],
    ['window-post', 13, 'StackedDrgWindow32GiBV1_2', false],
    ['window-post', 13, 'StackedDrgWindow32GiBV1_1', false],
  ] as const)('of spacetime is known: %s, %i, %s', (circuit, number, name, globalChallenges) => {
    const proof = registeredProof('proof', circuit, name);
    expect(proof).toMatchObject({ number, globalChallenges, sectorSize: '32GiB' });
    expect(registeredProof('proof', circuit, number)).toEqual(proof);
  });

  it.each([
    ['porep', 20],
    ['porep', -1],
    ['porep', '5'],
    ['porep', 'StackedDrgWindow2KiBV1'],
    ['winning-post', 5],
    ['window-post', 4],
    ['snap-deals', null],
  ] as const)('of %s is not %s', (circuit, value) => {
    expect(() => registeredProof('proof', circuit, value)).toThrow('proof: expected a registered');
  });
});

describe('a statement', () => {
  it('takes a miner by address, and the PoRep id from its proof', () => {
    const { porep_id: _, ...rest } = POREP;
    const same = { ...rest, prover_id: 'f01000', sector_number: '1', registered_proof: 5 };
    expect(parseStatement(same)).toEqual(parseStatement(POREP));
    const prover = (prover_id: string) =>
      toHex((parseStatement({ ...POREP, prover_id }) as PorepStatement).proverId);
    expect(prover('t0106')).toBe('6a'.padEnd(64, '0'));
    expect(prover('f018446744073709551615')).toBe('ffffffffffffffffff01'.padEnd(64, '0'));
  });

  it('sorts the sectors of a proof of spacetime, and drops two bits of the randomness', () => {
    const { sectors, comm_r } = WINDOW as { sectors: number[]; comm_r: string[] };
    const other = { sectors: sectors.toReversed(), comm_r: comm_r.toReversed() };
    const randomness = 'ff'.repeat(32);
    const parsed = parseStatement({ ...WINDOW, ...other, randomness }) as PostStatement;
    expect(parsed.sectors).toEqual((parseStatement(WINDOW) as PostStatement).sectors);
    expect(toHex(parsed.randomness)).toBe(`${'ff'.repeat(31)}3f`);
  });

  it('has as many partitions as the network has', () => {
    const porep = (name: string) =>
      partitionsOf(parseStatement({ ...POREP, ...bare, registered_proof: name }));
    const bare = { sector_size: undefined, partitions: undefined };
    expect(porep('StackedDrg32GiBV1_1')).toBe(10);
    expect(porep('StackedDrg64GiBV1_2_Feat_NonInteractivePoRep')).toBe(126);
    expect(porep('StackedDrg2KiBV1_2_Feat_NiPoRep')).toBe(13);
    const count = 2349 * 2 + 1;
    const sectors = Array.from({ length: count }, (_, i) => i);
    const comm_r = sectors.map(() => (WINDOW.comm_r as string[])[0]);
    const full = { ...WINDOW, ...bare, sectors, comm_r, registered_proof: 13 };
    expect(partitionsOf(parseStatement(full))).toBe(3);
    expect(partitionsOf(parseStatement({ ...SNAP, ...bare, registered_proof: 3 }))).toBe(16);
    expect(partitionsOf(parseStatement(WINNING))).toBe(1);
  });

  it.each([
    [POREP, { kind: 'porep2' }, 'kind: expected porep, window-post, winning-post, snap-deals'],
    [POREP, { registered_proof: 99 }, 'registered_proof: expected a registered proof of porep'],
    [POREP, { seed: '00'.repeat(32) }, 'seed: expected a seed that is not zero'],
    [POREP, { comm_r: '00'.repeat(32) }, 'comm_r: expected a commitment: not zero and below r'],
    [POREP, { comm_d: hex(R) }, 'comm_d: expected a commitment: not zero and below r'],
    [POREP, { comm_r: POREP.comm_r?.toString().slice(1) }, 'comm_r: expected 64 hex digits'],
    [POREP, { comm_r: 5 }, 'comm_r: expected hex or a CID, got a value of type number'],
    [
      POREP,
      { comm_r: 'baga6ea4seaqc3dgscuewdd76uubtaki6usrdki7b4os7otho2downpjspp2ruii' },
      'comm_r: expected the CID of a replica commitment',
    ],
    [POREP, { comm_r: 'bagboea4b5abc' }, 'comm_r: expected the CID of a replica commitment'],
    [POREP, { prover_id: 'f3abc' }, 'prover_id: expected 64 hex digits'],
    [POREP, { prover_id: 'f018446744073709551616' }, 'prover_id: expected a whole number'],
    [POREP, { sector_number: 1.5 }, 'sector_number: expected a whole number below 2^64'],
    [POREP, { sector_number: '18446744073709551616' }, 'sector_number: expected a whole number'],
    [POREP, { sector_size: 4096 }, 'sector_size: expected 2048, got 4096'],
    [POREP, { partitions: 2 }, 'partitions: expected 1, got 2'],
    [POREP, { ticket: undefined }, 'ticket: expected 64 hex digits, got none'],
    [WINDOW, { sectors: [1] }, 'comm_r: expected 1, one a sector, got 2'],
    [WINDOW, { sectors: [1, 1] }, 'sectors: expected each once, got 1 twice'],
    [WINDOW, { sectors: [] }, `sectors: expected an array of 1 to ${SECTORS_MAX}`],
    [WINDOW, { sectors: new Array(SECTORS_MAX + 1) }, `an array of 1 to ${SECTORS_MAX}`],
    [WINNING, { sectors: [1, 2], comm_r: WINDOW.comm_r }, 'sectors: expected 1 for winning-post'],
    [SNAP, { comm_r_new: '' }, 'comm_r_new: expected 64 hex digits'],
  ])('is refused: %# %j', (statement, change, message) => {
    const parse = () => parseStatement({ ...statement, ...change });
    expect(parse).toThrow(`statement: ${message}`.replace('statement: an', 'an'));
    expect(parse).toThrow(expect.objectContaining({ code: 'ERR_FORMAT' }));
  });
});
