import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { RemoteProver } from '../../../src/cli/remote.ts';

const folder = mkdtempSync(join(tmpdir(), 'proofline-remote-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('sends no pipe, device or folder to a server, and says which file it was', async () => {
  const { signal } = new AbortController();
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  for (const path of [pipe, '/dev/zero', folder]) {
    const proving = new RemoteProver('http://127.0.0.1:1', undefined).prove(
      { key: 'k', witness: { path } },
      { signal },
    );
    await expect(proving).rejects.toThrow(`${path}: expected a file`);
  }
});
