import { afterEach, describe, expect, it, vi } from 'vitest';
import type { CallHooks } from '../../../src/cli/wiring.ts';
import { SETTINGS } from '../../../src/config.ts';
import { ProverError } from '../../../src/core/errors.ts';
import { nowMicros } from '../../../src/core/units.ts';
import { command, folder, REPORT } from './fake.ts';

afterEach(() => {
  vi.useRealTimers();
});

const COMMANDS = [
  ['serve'],
  ['worker'],
  ['ffi'],
  ['prove'],
  ['verify'],
  ['setup'],
  ['timeline'],
  ['keys'],
  ['keys', 'vkey'],
  ['doctor'],
];

describe('help', () => {
  it('of proofline lists every command, exit code and setting', async () => {
    const { code, stdout, stderr } = await command(['--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const [name] of COMMANDS) expect(stdout).toMatch(new RegExp(`^ {2}${name} `, 'm'));
    for (const { env } of Object.values(SETTINGS)) expect(stdout).toContain(`  ${env} `);
    for (const exit of ['0', '1', '2', '3', '130']) {
      expect(stdout).toMatch(new RegExp(`^ {2}${exit} `, 'm'));
    }
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it.each(COMMANDS)('of %s %s is a manual page', async (...words) => {
    const { code, stdout, stderr } = await command([...words, '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^Usage: proofline /);
    expect(stdout).toMatch(/\nExamples:\n {2}# .+\n {2}\$ proofline /);
    expect(stdout).toMatch(/\nExit codes:\n {2}0 /);
  });

  it('of prove', async () => {
    expect((await command(['prove', '--help'])).stdout).toMatchSnapshot();
  });

  it('of verify, by the help command', async () => {
    expect((await command(['help', 'verify'])).stdout).toMatchSnapshot();
  });

  it('goes to standard error, with exit code 2, where a command is missing', async () => {
    for (const argv of [[], ['keys']]) {
      const ran = await command(argv);
      expect(ran).toMatchObject({ code: 2, stdout: '' });
      expect(ran.stderr).toMatch(/^Usage: proofline /);
    }
  });

  it('needs no setting to be right', async () => {
    const env = { PROOFLINE_THREADS: 'many' };
    expect((await command(['--help'], { env })).code).toBe(0);
    expect((await command(['--version'], { env })).stdout).toBe('1.2.3\n');
  });
});

describe('usage', () => {
  it('suggests the command that was meant', async () => {
    const { code, stderr } = await command(['verfy']);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^proofline: unknown command 'verfy' \(Did you mean verify\?\) /);
  });

  it('errors are JSON where JSON was asked for', async () => {
    const { code, stdout } = await command(['prove', '--json']);
    expect(code).toBe(2);
    expect(JSON.parse(stdout).error).toMatchObject({ code: 'ERR_PARAMS', retry: 'never' });
  });
});

describe('an interrupt', () => {
  const argv = ['prove', '--key', 'K', '--witness', 'w'];

  function interrupted(signal: 'SIGINT' | 'SIGTERM', prove: (hooks: CallHooks) => Promise<never>) {
    const at = folder();
    const controller = new AbortController();
    const args = [...argv, '--out', at('proof.json'), '--public', at('public.json'), '--json'];
    return command(
      args,
      {
        prove(_, hooks) {
          setImmediate(() => controller.abort(signal));
          return prove(hooks);
        },
      },
      { interrupt: controller.signal },
    );
  }

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const)('by %s cancels the work and exits with %i', async (signal, exit) => {
    const ran = await interrupted(
      signal,
      (hooks) =>
        new Promise((_, reject) => {
          const error = new ProverError('ERR_CANCELLED', { jobId: 'j' });
          hooks.signal.addEventListener('abort', () => reject(error));
        }),
    );
    expect(ran.code).toBe(exit);
    expect(ran.stderr).toContain(`proofline: cancelled by ${signal}`);
    expect(ran.asked.at(-1)).toEqual(['closed']);
    expect(JSON.parse(ran.stdout).error.code).toBe('ERR_CANCELLED');
  });

  it('does not wait over a second for work that does not let go', async () => {
    const begin = performance.now();
    const ran = await interrupted('SIGINT', () => new Promise(() => {}));
    expect(ran.code).toBe(130);
    expect(performance.now() - begin).toBeLessThan(1_000);
  });
});

describe('proofline serve', () => {
  it('says where it listens, and stops when it is interrupted', async () => {
    const controller = new AbortController();
    const outside = { interrupt: controller.signal };
    const serving = command(['serve', '--listen', '127.0.0.1:0', '--data-dir', '/d'], {}, outside);
    setImmediate(() => controller.abort('SIGTERM'));
    const ran = await serving;
    expect(ran).toMatchObject({ code: 0, stderr: 'proofline: stopping\n' });
    expect(ran.stdout).toBe(
      [
        'proofline  1.2.3 at http://127.0.0.1:4321',
        'data       /d',
        'try        curl http://127.0.0.1:4321/status',
        'stop       Ctrl-C',
        '',
      ].join('\n'),
    );
    expect(ran.asked).toEqual([['serve', { listen: '127.0.0.1:0', dataDir: '/d' }], ['stopped']]);
  });

  it('prints one JSON document', async () => {
    const interrupt = AbortSignal.abort('SIGINT');
    const { code, stdout, stderr } = await command(['serve', '--json'], {}, { interrupt });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({
      url: 'http://127.0.0.1:4321',
      data_dir: '/data',
      pid: process.pid,
      version: '1.2.3',
    });
  });

  it('takes each setting as an option', async () => {
    const interrupt = AbortSignal.abort('SIGINT');
    const options = ['--threads', '2', '--queue-limit', '5', '--jobs-kept', '6'];
    const more = ['--upload-limit', '1GiB', '--timeline-lines', 'true'];
    const { asked } = await command(['serve', ...options, ...more], {}, { interrupt });
    expect(asked[0]).toEqual([
      'serve',
      {
        threads: '2',
        queueLimit: '5',
        jobsKept: '6',
        uploadLimitBytes: '1GiB',
        timelineLines: 'true',
      },
    ]);
  });

  it('refuses a wrong setting with exit code 2, and fails with 3', async () => {
    const wrong = await command(['serve', '--listen', 'a/b:80']);
    expect(wrong).toMatchObject({ code: 2, asked: [] });
    const startServer = () =>
      Promise.reject(new ProverError('ERR_LISTEN', { address: 'a:1', reason: 'EADDRINUSE' }));
    expect((await command(['serve'], { startServer })).code).toBe(3);
  });
});

describe('progress', () => {
  const proving = (ms: number, report: (hooks: CallHooks) => void, tty = true) => {
    vi.useFakeTimers();
    const at = folder();
    const lines: string[] = [];
    const ran = command(
      ['prove', '--key', 'K', '--witness', 'w', '--out', at('p'), '--public', at('q')],
      {
        prove: async (_, hooks) => {
          report(hooks);
          await vi.advanceTimersByTimeAsync(ms);
          vi.useRealTimers();
          return REPORT;
        },
      },
      { tty, columns: 80, onStderr: (text) => lines.push(text) },
    );
    return ran.then(() => lines);
  };

  it('shows what runs and how far it is, and clears its line', async () => {
    const lines = await proving(2_600, (hooks) => {
      hooks.onEvent?.({ atMicros: nowMicros(), event: 'JOB_START', jobId: 'j' });
      hooks.onEvent?.({ atMicros: nowMicros(), event: 'MSM_H_START', jobId: 'j' });
      hooks.onProgress?.(0.428);
    });
    expect(lines).toEqual([
      '\r\x1b[K| proving  MSM_H   42 %  2 s',
      '\r\x1b[K/ proving  MSM_H   42 %  2 s',
      '\r\x1b[K- proving  MSM_H   42 %  2 s',
      '\r\x1b[K',
    ]);
  });

  it('shows nothing for work under two seconds, or where no terminal reads', async () => {
    expect(await proving(1_900, () => {})).toEqual([]);
    expect(await proving(9_000, () => {}, false)).toEqual([]);
  });
});
