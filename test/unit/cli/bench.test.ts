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

describe('synth', () => {
  const synth = (...options: string[]) => command(['bench', 'synth', ...options]);

  it('takes a circuit, or a statement and its vanilla proofs', async () => {
    const made = await synth('--circuit', 'porep', '--sector-size', '32GiB', '--expanded');
    expect(made.code).toBe(0);
    expect(made.stdout).toContain('seconds  2.000 (median of 3: open 0.50, compute 1.50)');
    const of = { kind: 'porep', sectorSize: '32GiB' };
    const asked = expect.objectContaining({ of, expanded: true, runs: 3 });
    expect(made.asked).toContainEqual(['bench synthesis', asked]);
    const real = await synth('--statement', 's.json', '--vanilla', 'a', 'b', '--json');
    expect(JSON.parse(real.stdout)).toMatchObject({
      whole_seconds: 7,
      peak_anonymous_bytes: 2 ** 20,
    });
    const files = { statementPath: 's.json', vanillaPaths: ['a', 'b'], partition: 0 };
    expect(real.asked).toContainEqual(['bench synthesis', expect.objectContaining({ of: files })]);
  });

  it.each([
    [[]],
    [['--circuit', 'porep']],
    [['--statement', 's.json']],
    [['--circuit', 'porep', '--sector-size', '2KiB', '--runs', '0']],
  ])('refuses %j', async (options) => {
    expect(await synth(...options)).toMatchObject({ code: 2, stdout: '' });
  });
});
