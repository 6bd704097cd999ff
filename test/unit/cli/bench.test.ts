import { describe, expect, it } from 'vitest';
import { BENCH, command } from './fake.ts';

it('asks for a chain by default, and shows times and ratio', async () => {
  const ran = await command(['bench', 'prove', '--against', 'snarkjs', '--size', '2^10']);
  expect(ran.code).toBe(0);
  expect(ran.asked).toContainEqual([
    'bench',
    expect.objectContaining({
      circuit: { kind: 'chain', curve: 'bn254', constraints: 1024 },
      runs: 5,
      against: 'snarkjs',
    }),
  ]);
  expect(ran.stdout).toContain('ratio    10.0 times as fast');
});

it('writes one document for programs', async () => {
  const ran = await command(['bench', 'prove', '--json', '--isa', 'adx', '--threads', '1']);
  expect(JSON.parse(ran.stdout)).toMatchObject({
    seconds: BENCH.seconds,
    peer_seconds: BENCH.peerSeconds,
    ratio: 10,
    threads: 2,
  });
  expect(ran.asked).toContainEqual([
    'bench',
    expect.objectContaining({ threads: 1, instructionSet: 'adx' }),
  ]);
});

it.each([
  [['--size', '0']],
  [['--size', '2^30']],
  [['--size', 'many']],
  [['--runs', '0']],
  [['--r1cs', 'only.r1cs']],
  [['--against', 'nobody']],
])('refuses %j', async (options) => {
  expect(await command(['bench', 'prove', ...options])).toMatchObject({ code: 2, stdout: '' });
});

describe.each(['msm', 'ntt'])('%s', (what) => {
  it('takes a power of two', async () => {
    const ran = await command(['bench', what, '--size', '2^12', '--json', '--isa', 'portable']);
    expect(JSON.parse(ran.stdout)).toMatchObject({ what, log_n: 12, instruction_set: 'adx' });
    const asked = { what, curve: 'bls12-381', logN: 12, instructionSet: 'portable' };
    expect(ran.asked).toContainEqual(['bench parts', expect.objectContaining(asked)]);
    expect(await command(['bench', what, '--size', '1000'])).toMatchObject({ code: 2 });
  });
});
