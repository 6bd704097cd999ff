import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ProverError } from '../../../src/core/errors.ts';
import { timelineOf } from '../../../src/trace/timeline.ts';
import { drawn } from '../trace/drawn.ts';
import { BACKENDS, command, folder, REPORT, VERIFICATION_KEY } from './fake.ts';

function proofFiles() {
  const at = folder();
  writeFileSync(at('vk.json'), '{"vk":1}');
  writeFileSync(at('proof.json'), '{"proof":1}');
  writeFileSync(at('public.json'), '["33"]');
  const args = ['--proof', at('proof.json'), '--public', at('public.json')];
  return { at, args };
}

describe('proofline verify', () => {
  it('exits with 0 for a valid proof', async () => {
    const { at, args } = proofFiles();
    const ran = await command(['verify', '--key', at('vk.json'), ...args]);
    expect(ran).toMatchObject({ code: 0, stdout: 'valid\n', stderr: '' });
    expect(ran.asked).toEqual([
      ['engine', {}],
      ['verify', { verificationKey: { vk: 1 }, proof: { proof: 1 }, public: ['33'] }],
      ['closed'],
    ]);
  });

  it('exits with 1 for an invalid one and says why', async () => {
    const { at, args } = proofFiles();
    const verify = async () => ({ valid: false, reason: 'A is not in the group' });
    const argv = ['verify', '--key', at('vk.json'), ...args];
    const text = await command(argv, { verify });
    expect(text).toMatchObject({ code: 1, stdout: 'invalid: A is not in the group\n' });
    const json = await command([...argv, '--json'], { verify });
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toEqual({ valid: false, reason: 'A is not in the group' });
  });

  it('colours its verdict on a terminal only', async () => {
    const { at, args } = proofFiles();
    const argv = ['verify', '--key', at('vk.json'), ...args];
    expect((await command(argv, {}, { tty: true })).stdout).toBe('\x1b[32mvalid\x1b[39m\n');
  });

  it('takes the verification key of a zkey, or of a key that a server stores', async () => {
    const { args } = proofFiles();
    const local = await command(['verify', '--zkey', 'K.zkey', ...args]);
    expect(local.asked[1]).toMatchObject(['verify', { key: 'K.zkey' }]);
    const remote = await command(['verify', '--zkey', 'circuit', '--server', 'http://h', ...args]);
    expect(remote.asked.slice(0, 2)).toMatchObject([
      ['server', 'http://h'],
      ['verify', { key: 'circuit' }],
    ]);
  });

  it('takes a statement and a proof as bytes or as hex', async () => {
    const at = folder();
    writeFileSync(at('s.json'), '{"kind":"porep"}');
    writeFileSync(at('p.bin'), Uint8Array.of(0x80, 0x01));
    writeFileSync(at('p.hex'), '8001\n');
    for (const proof of ['p.bin', 'p.hex']) {
      const argv = ['--vk', at('x.vk'), '--statement', at('s.json'), '--proof', at(proof)];
      const ran = await command(['verify', ...argv]);
      expect(ran).toMatchObject({ code: 0, stdout: 'valid\n' });
      const params = { statement: { kind: 'porep' }, proof: '8001', key: at('x.vk') };
      expect(ran.asked[1]).toEqual(['verify statement', params]);
    }
  });

  it('has a stored key found for a statement, here or by a server', async () => {
    const at = folder();
    writeFileSync(at('s.json'), '{"kind":"porep"}');
    writeFileSync(at('p.bin'), Uint8Array.of(0x80, 0x01));
    const argv = ['verify', '--statement', at('s.json'), '--proof', at('p.bin')];
    const asked = ['verify statement', { statement: { kind: 'porep' }, proof: '8001' }];
    const local = await command([...argv, '--data-dir', '/d']);
    expect(local.asked.slice(0, 2)).toEqual([['engine', { dataDir: '/d' }], asked]);
    const remote = await command([...argv, '--server', 'http://h']);
    expect(remote.asked.slice(0, 2)).toEqual([['server', 'http://h'], asked]);
  });

  it.each([
    [['--vk', 'v'], '--vk: expected a --statement, got none'],
    [['--vk', 'v', '--statement', 's', '--public', 'p'], '--public: expected none'],
    [['--key', 'k'], 'public inputs: expected --public, or --statement, got none'],
  ])('refuses %j', async (options, message) => {
    const { code, stderr, asked } = await command(['verify', '--proof', 'p', ...options]);
    expect([code, asked]).toEqual([2, []]);
    expect(stderr).toContain(message);
  });

  it('wants one of --key and --zkey', async () => {
    const { args } = proofFiles();
    const neither = await command(['verify', ...args]);
    expect(neither.code).toBe(2);
    expect(neither.stderr).toContain('expected either --key or --zkey, got neither');
    const both = await command(['verify', '--key', 'k', '--zkey', 'z', ...args]);
    expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('got both') });
  });

  it('refuses files that are missing or no JSON with exit code 2', async () => {
    const { at, args } = proofFiles();
    const missing = await command(['verify', '--key', at('nothing'), ...args]);
    expect(missing).toMatchObject({ code: 2, asked: [] });
    expect(missing.stderr).toContain(`proofline: ${at('nothing')}: no such file`);
    writeFileSync(at('proof.json'), 'secret 12345');
    const broken = await command(['verify', '--key', at('vk.json'), ...args]);
    expect(broken.code).toBe(2);
    expect(broken.stderr).toContain(`proofline: ${at('proof.json')}: expected JSON`);
    expect(broken.stderr).not.toContain('12345');
  });
});

describe('proofline setup', () => {
  it('makes a key and says that it is not secure', async () => {
    const at = folder();
    const argv = ['setup', '--r1cs', 'c.r1cs', '--out', at('K.zkey'), '--vk', at('vk.json')];
    const ran = await command([...argv, '--insecure-seed', 'test', '--threads', '2']);
    expect(ran.code).toBe(0);
    expect(ran.stdout).toContain('INSECURE     forgeable\n');
    expect(readFileSync(at('vk.json'), 'utf8')).toBe(JSON.stringify(VERIFICATION_KEY, null, 1));
    expect(ran.asked).toEqual([
      ['engine', { threads: '2' }],
      [
        'setup',
        {
          circuit: { r1csPath: 'c.r1cs' },
          ...{ outPath: at('K.zkey'), format: 'zkey', seed: 'test' },
        },
      ],
      ['vkey', at('K.zkey')],
      ['closed'],
    ]);
  });

  it('prints one JSON document', async () => {
    const at = folder();
    const argv = ['setup', '--r1cs', 'c', '--out', at('p'), '--format', 'bellman', '--json'];
    const { code, stdout } = await command(argv);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      path: at('p'),
      format: 'bellman',
      digest: 'cd'.repeat(32),
      bytes: 2580,
      constraints: 1,
      insecure: 'forgeable',
    });
  });

  it('makes parameters of a circuit of Filecoin, in a file named after it', async () => {
    const argv = ['setup', '--circuit', 'window-post', '--sector-size', '2KiB', '--threads', '1'];
    const { code, asked } = await command(argv);
    expect(code).toBe(0);
    const circuit = { kind: 'window-post', sectorSize: '2KiB' };
    const outPath = 'window-post-2KiB.params';
    expect(asked[1]).toEqual(['setup', { circuit, outPath, format: 'bellman' }]);
  });

  it.each([
    [[], 'circuit: expected either --r1cs or --circuit, got neither'],
    [['--circuit', 'porep'], '--sector-size: expected 2KiB, 8MiB'],
    [['--r1cs', 'c', '--sector-size', '2KiB', '--out', 'k'], 'expected a --circuit'],
    [['--r1cs', 'c'], '--out: expected a file'],
    [
      ['--circuit', 'porep', '--sector-size', '2KiB', '--format', 'zkey'],
      '--format: expected bellman',
    ],
  ])('refuses %j', async (options, message) => {
    const { code, stderr, asked } = await command(['setup', ...options]);
    expect([code, asked]).toEqual([2, []]);
    expect(stderr).toContain(message);
  });

  it('refuses another format with exit code 2', async () => {
    const argv = ['setup', '--r1cs', 'c', '--out', 'k', '--format', 'plonk'];
    expect(await command(argv)).toMatchObject({ code: 2, asked: [] });
  });

  it('exits with 3 where the key cannot be made', async () => {
    const at = folder();
    const setup = () =>
      Promise.reject(new ProverError('ERR_HOST_CRASHED', { device: 'tools', cause: 'SIGKILL' }));
    const argv = ['setup', '--r1cs', 'c', '--out', at('k')];
    expect((await command(argv, { setup })).code).toBe(3);
  });
});

describe('proofline keys vkey', () => {
  const text = JSON.stringify(VERIFICATION_KEY, null, 1);

  it('prints the key, with --json too', async () => {
    for (const more of [[], ['--json']]) {
      const ran = await command(['keys', 'vkey', '--key', 'K.zkey', ...more]);
      expect(ran).toMatchObject({ code: 0, stdout: `${text}\n` });
      expect(ran.asked).toContainEqual(['vkey', 'K.zkey']);
    }
  });

  it('writes it to a file', async () => {
    const at = folder();
    const argv = ['keys', 'vkey', '--key', 'K.zkey', '--out', at('vk.json')];
    expect((await command(argv)).stdout).toMatch(/curve {3}bn128\npublic {2}1 input\n$/);
    expect(readFileSync(at('vk.json'), 'utf8')).toBe(text);
    const { stdout } = await command([...argv, '--json']);
    expect(JSON.parse(stdout)).toEqual({ path: at('vk.json'), curve: 'bn128', public_inputs: 1 });
  });

  it('exits with 2 for a key that is none', async () => {
    const vkey = () => Promise.reject(new ProverError('ERR_FILE', { path: 'K', reason: 'no' }));
    expect((await command(['keys', 'vkey', '--key', 'K'], { vkey })).code).toBe(2);
  });
});

describe('proofline timeline', () => {
  it('draws a job of the service that the settings name', async () => {
    const ran = await command(['timeline', 'job-1'], { env: { PROOFLINE_LISTEN: '[::1]:77' } });
    expect(ran.code).toBe(0);
    expect(ran.asked[0]).toEqual(['server', 'http://[::1]:77']);
    expect(ran.stdout).toMatch(/^job job-1 {2}11.0 ms\n.*\nGPU +6\.0 +54\.5 % +▐?█+/);
  });

  it('draws a running job, in ASCII and in a given width', async () => {
    const timeline = async () => timelineOf('j', drawn('JOB ├────\nGPU ├─'));
    const options = ['--ascii', '--width', '40', '--server', 'http://h'];
    const { stdout, asked } = await command(['timeline', 'j', ...options], { timeline });
    expect(asked.slice(0, 2)).toEqual([
      ['server', 'http://h'],
      ['timeline', 'j'],
    ]);
    expect(stdout).toMatch(/running/);
    expect(stdout).toMatch(/^[\n -~]+$/);
    expect(Math.max(...stdout.split('\n').map((line) => line.length))).toBe(40);
  });

  it('prints one JSON document', async () => {
    const { stdout } = await command(['timeline', 'job-1', '--json']);
    expect(JSON.parse(stdout)).toEqual(REPORT.timeline);
  });

  it('exits with 2 for a job that there is not, 3 for a service that there is not', async () => {
    const unknown = () => Promise.reject(new ProverError('ERR_JOB_UNKNOWN', { jobId: 'j' }));
    expect((await command(['timeline', 'j'], { timeline: unknown })).code).toBe(2);
    const away = () =>
      Promise.reject(new ProverError('ERR_UNREACHABLE', { url: 'http://h', reason: 'refused' }));
    const ran = await command(['timeline', 'j'], { timeline: away });
    expect(ran.code).toBe(3);
    expect(ran.stderr).toContain('proofline serve');
  });

  it.each(['39', '1001', 'wide', '80.5'])('refuses a width of %s', async (width) => {
    expect(await command(['timeline', 'j', '--width', width])).toMatchObject({
      code: 2,
      asked: [],
    });
  });
});

describe('proofline doctor', () => {
  it('ticks what works', async () => {
    const { code, stdout } = await command(['doctor']);
    expect(code).toBe(0);
    expect(stdout).toMatchInlineSnapshot(`
      "✓ node                   20.20.2, 4 cores of Some CPU
      ! backend cuda           not built
      ✓ backend cpu-reference  node v20.20.2, 0: Some CPU
      ✓ compiler               g++ 12.2.0
      ✓ cmake                  cmake version 3.25.1
      ✓ memory                 9.5 GiB free of 16.0 GiB
      ✓ data folder            /data
      ✓ tracing                off; OTEL_EXPORTER_OTLP_ENDPOINT turns it on

      proofline works here
      "
    `);
  });

  it('says what to install, and what keeps proofline from working', async () => {
    const facts = {
      nodeVersion: '20.18.3',
      memoryFreeBytes: 3e8,
      compiler: undefined,
      cmake: undefined,
      dataDirProblem: 'EACCES',
    };
    const probe = async () => BACKENDS.slice(0, 1);
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
    const { code, stdout } = await command(['doctor'], { facts, probe, env });
    expect(code).toBe(3);
    expect(stdout).toMatchInlineSnapshot(`
      "✗ node          20.18.3, 4 cores of Some CPU
                      → install Node.js 20.19 or newer
      ✗ backend cuda  not built
      ! compiler      not installed
                      → Debian: \`apt-get install g++ cmake\`, then \`npm rebuild\`, for the native backend
      ! cmake         not installed
                      → Debian: \`apt-get install g++ cmake\`, then \`npm rebuild\`, for the native backend
      ! memory        0.3 GiB free of 16.0 GiB
                      → end other programs or raise the limit
      ✗ data folder   /data: EACCES
                      → make it writable, or set PROOFLINE_DATA_DIR to a folder that is
      ✓ tracing       each job is exported, as OTEL_* say

      proofline cannot work here yet: see ✗
      "
    `);
  });

  it('prints one JSON document with the same verdict', async () => {
    const good = await command(['doctor', '--json']);
    const report = JSON.parse(good.stdout);
    expect(report).toMatchObject({ ok: true, version: '1.2.3' });
    expect(report.checks).toContainEqual({
      name: 'backend cuda',
      status: 'warn',
      found: 'not built',
    });
    const bad = await command(['doctor', '--json'], { facts: { dataDirProblem: 'EROFS' } });
    expect(bad.code).toBe(3);
    expect(JSON.parse(bad.stdout).ok).toBe(false);
  });

  it.each(['20.19.0', '20.20.2', '22.0.0', '24.1.0'])('accepts Node.js %s', async (nodeVersion) => {
    expect((await command(['doctor'], { facts: { nodeVersion } })).code).toBe(0);
  });

  it.each(['18.20.0', '20.18.9'])('refuses Node.js %s', async (nodeVersion) => {
    expect((await command(['doctor'], { facts: { nodeVersion } })).code).toBe(3);
  });

  it('exits with 2 for a setting that is wrong', async () => {
    const ran = await command(['doctor'], { env: { PROOFLINE_LISTEN: 'a/b:80' } });
    expect(ran.code).toBe(2);
    expect(ran.stderr).toContain('PROOFLINE_LISTEN: expected an address and a port');
  });
});
