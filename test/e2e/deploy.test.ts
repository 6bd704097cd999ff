import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { loadConfig } from '../../src/config.ts';
import { serve } from '../support/command.ts';

const UNIT = 'deploy/proofline.service';
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proofline-deploy-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** What a tool says, also on standard error. Skips, with the reason, where it is not installed. */
function run(context: TestContext, tool: string, ...args: readonly string[]): string {
  const { error, status, stdout, stderr } = spawnSync(tool, args, { encoding: 'utf8' });
  if ((error as NodeJS.ErrnoException)?.code === 'ENOENT') context.skip(`${tool}: not installed`);
  expect(status, stderr).toBe(0);
  return stdout + stderr;
}

describe('the systemd unit', () => {
  it('is one, and hardened', (context) => {
    expect(run(context, 'systemd-analyze', 'verify', UNIT)).toBe('');
    const args = ['security', '--offline=true', '--threshold=20', UNIT];
    expect(run(context, 'systemd-analyze', ...args)).toContain('OK');
  });

  it('gives the service its settings, and more time to stop than it drains for', async () => {
    const unit = await readFile(UNIT, 'utf8');
    const settings = /^Environment=(.*)$/m.exec(unit)?.[1]?.split(' ') ?? [];
    const { drainMs } = loadConfig({}, Object.fromEntries(settings.map((s) => s.split('='))));
    const stopSeconds = Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1]);
    expect(stopSeconds * 1000).toBeGreaterThanOrEqual(drainMs + 10_000);
  });
});

describe('the health check of the container', () => {
  const check = (env: Record<string, string>) =>
    new Promise<number>((resolve) => {
      const child = execFile(process.execPath, ['deploy/healthcheck.mjs'], { env }, () => {});
      child.once('close', (code) => resolve(code ?? -1));
    });

  it('passes while the service is ready, also over TLS, and fails without it', async (context) => {
    const [cert, key] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    run(
      context,
      'openssl',
      ...'req -x509 -nodes -newkey rsa:2048 -subj /CN=elsewhere'.split(' '),
      ...['-keyout', key, '-out', cert],
    );
    for (const env of [{}, { PROOFLINE_TLS_CERT_FILE: cert, PROOFLINE_TLS_KEY_FILE: key }]) {
      const service = await serve(folder, env);
      const listen = { ...env, PROOFLINE_LISTEN: `0.0.0.0:${new URL(service.url).port}` };
      expect(await check(listen)).toBe(0);
      await service.stop();
      expect(await check(listen)).toBe(1);
    }
  });
});
