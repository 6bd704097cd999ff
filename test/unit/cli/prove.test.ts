import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ProverError } from '../../../src/core/errors.ts';
import { command, folder, REPORT } from './fake.ts';

function outputs() {
  const at = folder();
  const args = ['--out', at('proof.json'), '--public', at('public.json')];
  return { at, args };
}

describe('proofline prove', () => {
  it("writes snarkjs's JSON and says what proved it", async () => {
    const { at, args } = outputs();
    const ran = await command(['prove', '--key', 'K.zkey', '--witness', 'W.wtns', ...args]);
    expect(ran.code).toBe(0);
    expect(ran.stderr).toBe('');
    expect(readFileSync(at('proof.json'), 'utf8')).toBe(JSON.stringify(REPORT.proof, null, 1));
    expect(readFileSync(at('public.json'), 'utf8')).toBe('[\n "33"\n]');
    expect(ran.stdout.replaceAll(dirname(at('x')), 'DIR')).toBe(
      [
        'proof     DIR/proof.json',
        'public    DIR/public.json (1 input)',
        `key       sha256 ${REPORT.keyDigest}`,
        'backend   cpu-reference, device 0',
        'verified  yes',
        '',
      ].join('\n'),
    );
    expect(ran.asked).toEqual([
      ['engine', {}],
      ['prove', { key: 'K.zkey', witness: { path: 'W.wtns' } }],
      ['closed'],
    ]);
  });

  it('draws the waterfall on a terminal, in colour unless that is refused', async () => {
    const { args } = outputs();
    const argv = ['prove', '--key', 'K.zkey', '--witness', 'W.wtns', ...args];
    const { stdout } = await command(argv, {}, { tty: true, columns: 60 });
    expect(stdout).toContain('job job-1  11.0 ms\n');
    expect(stdout.replaceAll('\x1b', 'ESC')).toMatch(
      /^GPU +6.0 +54.5 % {2}ESC\[32m +█+▌ESC\[39m$/m,
    );
    const plain = await command(argv, { env: { NO_COLOR: '1' } }, { tty: true, columns: 60 });
    expect(plain.stdout).toMatch(/^GPU +6\.0 +54\.5 % +█+▌$/m);
    expect(plain.stdout).not.toContain('\x1b');
  });

  it('prints one JSON document', async () => {
    const { at, args } = outputs();
    const argv = ['prove', '--key', 'K.zkey', '--witness', 'W.wtns', '--json', ...args];
    const { code, stdout } = await command(argv, {}, { tty: true });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      job_id: 'job-1',
      state: 'completed',
      proof: REPORT.proof,
      public: ['33'],
      key_digest: REPORT.keyDigest,
      backend: 'cpu-reference',
      device: '0',
      attempts: 1,
      verified: true,
      timings: { total_ms: 11, gpu_ms: 6, verify_ms: 3 },
      files: { proof: at('proof.json'), public: at('public.json') },
    });
  });

  it('says why another backend made the proof', async () => {
    const { args } = outputs();
    const argv = ['prove', '--key', 'K.zkey', '--witness', 'W.wtns', ...args];
    const prove = async () => ({ ...REPORT, fallbackReason: 'cpu: A is not in the group' });
    const { stdout } = await command(argv, { prove });
    expect(stdout).toContain('fallback  cpu: A is not in the group\n');
    const { stdout: json } = await command([...argv, '--json'], { prove });
    expect(JSON.parse(json).fallback_reason).toBe('cpu: A is not in the group');
  });

  it('takes an input and a wasm, the constraints, a backend and threads', async () => {
    const { args } = outputs();
    const argv = ['prove', '--key', 'K', '--input', 'i.json', '--wasm', 'c.wasm', ...args];
    const more = ['--r1cs', 'c.r1cs', '--backend', 'cpu', '--threads', '3'];
    const { code, asked } = await command([...argv, ...more]);
    expect(code).toBe(0);
    expect(asked.slice(0, 2)).toEqual([
      ['engine', { threads: '3' }],
      [
        'prove',
        {
          key: 'K',
          witness: { inputPath: 'i.json', wasmPath: 'c.wasm' },
          r1csPath: 'c.r1cs',
          backend: 'cpu',
        },
      ],
    ]);
  });

  it('names a local key to a server by its digest, and a stored one by its name', async () => {
    const { at, args } = outputs();
    writeFileSync(at('K.zkey'), 'a key');
    const digest = createHash('sha256').update('a key').digest('hex');
    const url = 'http://127.0.0.1:9';
    const argv = ['prove', '--witness', 'W.wtns', '--server', url, ...args];
    const local = await command([...argv, '--key', at('K.zkey')]);
    expect(local.asked.slice(0, 2)).toEqual([
      ['server', url],
      ['prove', { key: digest, witness: { path: 'W.wtns' } }],
    ]);
    const stored = await command([...argv, '--key', 'circuit']);
    expect(stored.asked[1]).toMatchObject(['prove', { key: 'circuit' }]);
  });

  it.each([
    [['--key', 'K'], 'witness: expected either --witness, or --input and --wasm, got neither'],
    [['--key', 'K', '--input', 'i'], 'got --input alone'],
    [['--key', 'K', '--wasm', 'c'], 'got --wasm alone'],
    [['--key', 'K', '--witness', 'w', '--wasm', 'c'], 'got both'],
    [['--witness', 'w'], '--key: expected the key of a circom circuit, got none'],
    [['--key', 'K', '--witness', 'w', '--backend', 'gpu'], "argument 'gpu' is invalid"],
    [['--key', 'K', '--witness', 'w', '--threads', 'x'], 'threads: expected a whole number'],
    [['--key', 'K', '--witness', 'w', '--server', 'u', '--r1cs', 'r'], 'got --r1cs'],
    [['--key', 'K', '--input', 'i', '--wasm', 'c', '--server', 'u'], 'got --input'],
    [['--key', 'K', '--witness', 'w', '--nonsense'], "unknown option '--nonsense'"],
    [['--key', 'K', '--witness', 'w', 'extra'], 'too many arguments'],
    [['--key', 'K', '--witness', 'w', '--out', 'same', '--public', './same'], 'same twice'],
    [['--key', 'K', '--witness', 'w', '--out', '/'], '/: expected a file, got a folder'],
    [['--key', 'K', '--witness', 'w', '--out', '/no/such/x'], '/no/such/x: no such folder'],
  ])('refuses %j with exit code 2 before any work', async (args, reason) => {
    const { code, stderr, asked } = await command(['prove', ...args]);
    expect(stderr).toContain(reason);
    expect(stderr.split('\n')).toHaveLength(2);
    expect(code).toBe(2);
    expect(asked.map(([what]) => what)).not.toContain('prove');
  });

  it.each([
    [new ProverError('ERR_CONSTRAINT_UNSATISFIED', { index: 3, count: 9 }), 2, 'constraint 3 of 9'],
    [new ProverError('ERR_KEY_UNKNOWN', { key: 'K' }), 2, 'key K'],
    [new ProverError('ERR_BACKEND_UNAVAILABLE', { backend: 'cuda', reason: 'none' }), 3, 'none'],
    [new ProverError('ERR_HOST_CRASHED', { device: 'cpu:0', cause: 'SIGSEGV' }), 3, 'SIGSEGV'],
    [new TypeError('x is not a function'), 3, 'internal error: x is not a function'],
  ])('exits as the error says: %s', async (error, exit, text) => {
    const { at, args } = outputs();
    writeFileSync(at('proof.json'), 'the old proof');
    const argv = ['prove', '--key', 'K', '--witness', 'w', ...args];
    const prove = () => Promise.reject(error);
    const ran = await command(argv, { prove });
    expect(ran.code).toBe(exit);
    expect(ran.stdout).toBe('');
    expect(ran.stderr).toMatch(/^proofline: [^\n]+ \([^\n]+\)\n$/);
    expect(ran.stderr).toContain(text);
    expect(ran.asked.at(-1)).toEqual(['closed']);
    expect(readFileSync(at('proof.json'), 'utf8')).toBe('the old proof');
    expect(readdirSync(dirname(at('x')))).toEqual(['proof.json']);

    const json = await command([...argv, '--json'], { prove });
    expect(json.code).toBe(exit);
    expect(JSON.parse(json.stdout).error).toMatchObject({
      code: error instanceof ProverError ? error.code : 'ERR_INTERNAL',
      message: expect.stringContaining(text),
      retry: expect.any(String),
      next: expect.any(String),
    });
  });

  it('says on a terminal what to do next in a line of its own', async () => {
    const prove = () => Promise.reject(new ProverError('ERR_KEY_UNKNOWN', { key: 'K' }));
    const { args } = outputs();
    const argv = ['prove', '--key', 'K', '--witness', 'w', ...args];
    const { stderr } = await command(argv, { prove }, { tty: true });
    expect(stderr).toMatch(/^proofline: key K: .*\n {2}next: import the key .*\n$/);
  });

  it('lets no control character of a message through', async () => {
    const prove = () => Promise.reject(new ProverError('ERR_KEY_UNKNOWN', { key: 'a\x1b[2J\nb' }));
    const { args } = outputs();
    const { stderr } = await command(['prove', '--key', 'K', '--witness', 'w', ...args], { prove });
    expect(stderr.trimEnd()).not.toMatch(/\p{Cc}/u);
  });
});
