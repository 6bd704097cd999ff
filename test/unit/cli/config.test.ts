import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { command } from './fake.ts';

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proofline-config-'));
  file = join(folder, 'settings.json');
  await writeFile(file, '{"queue_limit": 7, "data_dir": "/from/file"}');
});
afterEach(() => rm(folder, { recursive: true }));

it('shows each setting, its origin and the file', async () => {
  const argv = ['config', 'show', '--config', file, '--threads', '3'];
  const { code, stdout } = await command(argv, { env: { PROOFLINE_JOBS_KEPT: '9' } });
  expect(code).toBe(0);
  expect(stdout).toContain(`file: ${file}\n\n`);
  expect(stdout).toMatch(/^queue_limit +file +7$/m);
  expect(stdout).toMatch(/^threads +flag +3$/m);
  expect(stdout).toMatch(/^jobs_kept +environment {2}9$/m);
  expect(stdout).toMatch(/^listen +default +127\.0\.0\.1:9830$/m);
  const { stdout: json } = await command([...argv, '--json']);
  expect(JSON.parse(json)).toMatchObject({ file, settings: expect.any(Array) });
});

it('says that there is no file', async () => {
  const env = { XDG_CONFIG_HOME: folder };
  expect((await command(['config', 'show'], { env })).stdout).toMatch(/^file: none\n/);
});

it.each([
  [['--config', 'FILE', 'token', 'list']],
  [['token', 'list', '--config', 'FILE']],
  [['keys', 'list', '--config', 'FILE']],
])('takes the file for every command: %j', async (argv) => {
  await writeFile(file, '{"queue_limit": 0}');
  const { code, stderr } = await command(argv.map((word) => (word === 'FILE' ? file : word)));
  expect(code).toBe(2);
  expect(stderr).toContain(`${file}: queue_limit: expected 1 to 1000000, got 0`);
});

it('has the service started with the file and the options', async () => {
  const interrupt = AbortSignal.abort('SIGTERM');
  const { asked } = await command(['serve', '--config', file, '--threads', '2'], {}, { interrupt });
  expect(asked).toContainEqual(['serve', { threads: '2', config: file }]);
});
