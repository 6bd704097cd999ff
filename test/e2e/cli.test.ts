import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as snarkjs from 'snarkjs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { proofline } from '../support/command.ts';
import { vector } from '../support/shared.ts';

const PRINT_PEAK = fileURLToPath(new URL('../support/print-peak.mjs', import.meta.url));

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proofline-cli-'));
});
afterAll(() => rm(folder, { recursive: true }));

const readJson = async (path: string) => JSON.parse(await readFile(path, 'utf8'));

/** Complete sets: key, witness, verification key, public inputs, a proof by snarkjs. */
const SETS = ['bn254', 'bls12_381'].flatMap((curve) =>
  ['multiplier2', 'poseidon'].map((circuit) => `circom-${curve}/${circuit}`),
);

describe.each(SETS)('%s', (set) => {
  it('is proved, and snarkjs accepts the proof', async (context) => {
    const file = (name: string) => vector(context, `${set}/${name}`);
    const out = join(folder, `${set.replaceAll('/', '-')}-proof.json`);
    const publicOut = `${out}.public`;
    const proved = await proofline([
      'prove',
      ...['--key', file('circuit.zkey'), '--witness', file('witness.wtns')],
      ...['--r1cs', file('circuit.r1cs'), '--out', out, '--public', publicOut, '--json'],
      ...['--backend', 'cpu-reference'],
    ]);
    expect(proved).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(proved.stdout)).toMatchObject({ verified: true, backend: 'cpu-reference' });
    const inputs = await readJson(publicOut);
    expect(inputs).toEqual(await readJson(file('public.json')));
    const key = await readJson(file('verification_key.json'));
    expect(await snarkjs.groth16.verify(key, inputs, await readJson(out))).toBe(true);
  });

  it('has a stored proof that is valid, and invalid for another public input', async (context) => {
    const file = (name: string) => vector(context, `${set}/${name}`);
    const verify = (publicPath: string) =>
      proofline([
        'verify',
        ...['--key', file('verification_key.json'), '--proof', file('circom.proof')],
        ...['--public', publicPath],
      ]);
    expect(await verify(file('public.json'))).toMatchObject({ code: 0, stdout: 'valid\n' });
    const [first, ...rest] = await readJson(file('public.json'));
    const changed = join(folder, `${set.replaceAll('/', '-')}-changed.json`);
    await writeFile(changed, JSON.stringify([String(BigInt(first) + 1n), ...rest]));
    expect((await verify(changed)).code).toBe(1);
  });
});

const MULTIPLIER = 'circom-bn254/multiplier2';
const ACCEPTED = [
  'p01-without-section10.zkey',
  'p02-sections-reversed.zkey',
  'p03-unknown-section-99.zkey',
  'p04-trailing-16-bytes.zkey',
  'p05-npublic0.zkey',
];
const REFUSED = [
  'w01-truncated-8-bytes.wtns',
  'w03-unsatisfied-last-wire+1.wtns',
  'w05-wire0-not-one.wtns',
  'w07-section2-size-claims-2^62.wtns',
  'w09-empty.wtns',
  'w10-nsections-2^32-1.wtns',
  'z01-truncated-half.zkey',
  'z02-domainSize-2^30.zkey',
  'z03-pointsA-off-curve.zkey',
  'z06-rprime-altered.zkey',
  'z09-section-size-2^62.zkey',
];

describe('mutated files', () => {
  it.for(ACCEPTED)('%s is accepted', async (name, context) => {
    const witness = name.startsWith('p05')
      ? 'derived-positive/p05-npublic0.wtns'
      : `${MULTIPLIER}/witness.wtns`;
    const out = join(folder, `${name}.json`);
    const proved = await proofline([
      'prove',
      ...['--key', vector(context, `derived-positive/${name}`)],
      ...['--witness', vector(context, witness), '--out', out, '--public', `${out}.public`],
    ]);
    expect(proved).toMatchObject({ code: 0, stderr: '' });
  });

  it.for(REFUSED)(
    '%s is refused in one clear line, within 4 s and 200 MB',
    async (name, context) => {
      const hostile = vector(context, `derived-negative/${name}`);
      const kind = name.endsWith('.zkey') ? 'key' : 'witness';
      const files = {
        key: vector(context, `${MULTIPLIER}/circuit.zkey`),
        witness: vector(context, `${MULTIPLIER}/witness.wtns`),
        [kind]: hostile,
      };
      const out = join(folder, 'refused.json');
      const before = performance.now();
      const refused = await proofline(
        ['prove', '--key', files.key, '--witness', files.witness, '--out', out],
        { NODE_OPTIONS: `--import ${PRINT_PEAK}` },
      );
      expect(refused.code).toBe(2);
      const lines = refused.stderr.trimEnd().split('\n');
      const peaks = lines.filter((text) => text.startsWith('peak '));
      const [line, ...more] = lines.filter((text) => !peaks.includes(text));
      expect(more).toEqual([]);
      expect(line).toMatch(/^proofline: .*expected .*, got .*$/);
      expect(peaks.length).toBeGreaterThan(1);
      const kib = Math.max(...peaks.map((peak) => Number(peak.slice(5))));
      expect(kib).toBeLessThan(200_000);
      expect(performance.now() - before).toBeLessThan(4_000);
      expect(await readdir(folder)).not.toContain('refused.json');
    },
  );
});

describe('a witness that does not satisfy the circuit', () => {
  it('is named by its first constraint when the circuit is given', async (context) => {
    const out = join(folder, 'unsatisfied.json');
    const refused = await proofline([
      'prove',
      ...['--key', vector(context, `${MULTIPLIER}/circuit.zkey`)],
      ...['--witness', vector(context, 'derived-negative/w03-unsatisfied-last-wire+1.wtns')],
      ...['--r1cs', vector(context, `${MULTIPLIER}/circuit.r1cs`), '--out', out],
    ]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('got a failure at constraint 0 of 1');
  });
});

describe('the example circuit', () => {
  const example = (name: string) => `examples/preimage/${name}`;

  it.each(['', 'seed'])(
    'goes from constraints to a proof by its wasm (seed "%s")',
    async (seed) => {
      const [key, vk, out] = ['k.zkey', 'vk.json', 'p.json'].map((name) =>
        join(folder, `${seed}${name}`),
      ) as [string, string, string];
      const made = ['setup', '--r1cs', example('preimage.r1cs'), '--out', key, '--vk', vk];
      expect((await proofline(seed === '' ? made : [...made, '--insecure-seed', seed])).code).toBe(
        0,
      );
      const proved = await proofline([
        'prove',
        ...['--key', key, '--input', example('input.json'), '--wasm', example('preimage.wasm')],
        ...['--out', out, '--public', `${out}.public`],
      ]);
      expect(proved.stderr).toBe('');
      const [verificationKey, inputs, proof] = await Promise.all(
        [vk, `${out}.public`, out].map(readJson),
      );
      expect(inputs[1]).toBe('42');
      expect(await snarkjs.groth16.verify(verificationKey, inputs, proof)).toBe(true);
    },
  );

  it('refuses inputs that the circuit does not have, without their values', async () => {
    const key = join(folder, 'refusing.zkey');
    await proofline(['setup', '--r1cs', example('preimage.r1cs'), '--out', key]);
    const input = join(folder, 'input.json');
    await writeFile(input, JSON.stringify({ x: '987654321', other: '123456789' }));
    const refused = await proofline([
      'prove',
      ...['--key', key, '--input', input],
      ...['--wasm', example('preimage.wasm'), '--out', join(folder, 'none.json')],
    ]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('values for input signal other');
    expect(refused.stderr).not.toMatch(/987654321|123456789/);
  });
});

describe('what is no file', () => {
  it('is refused as key and as witness, and a pipe that nobody reads as output', async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const witness = 'examples/preimage/witness.wtns';
    const key = join(folder, 'piped.zkey');
    await proofline(['setup', '--r1cs', 'examples/preimage/preimage.r1cs', '--out', key]);
    for (const files of [
      ['--key', pipe, '--witness', witness],
      ['--key', '/dev/zero', '--witness', witness],
      ['--key', folder, '--witness', witness],
      ['--key', key, '--witness', pipe],
      ['--key', key, '--witness', '/dev/zero'],
      ['--key', key, '--witness', witness, '--out', pipe],
    ]) {
      const out = files.includes('--out') ? [] : ['--out', join(folder, 'none.json')];
      expect(await proofline(['prove', ...files, ...out]), files.join(' ')).toMatchObject({
        code: 2,
      });
    }
  });
});
