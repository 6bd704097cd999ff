import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** The tour, on a free port and with files of its own. */
async function tour(folder: string): Promise<string> {
  const readme = await readFile('README.md', 'utf8');
  const parts = [...readme.matchAll(/<!-- TOUR -->\n```sh\n([\s\S]*?)```/g)];
  const script = parts.map(([, lines]) => lines).join('');
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  return script
    .replaceAll('127.0.0.1:9830', `127.0.0.1:${port}`)
    .replaceAll('main.js serve', `main.js serve --listen 127.0.0.1:${port}`)
    .replaceAll('/tmp/', `${folder}/`);
}

it("the README's tour works line by line", async () => {
  const folder = await mkdtemp(join(tmpdir(), 'proofline-tour-'));
  const lines = (await tour(folder)).trim().split('\n');
  expect(lines.length).toBeGreaterThan(10);
  const shell = spawn('bash', [], {
    env: { ...process.env, XDG_DATA_HOME: folder },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  shell.stdout.on('data', (chunk) => {
    output += chunk;
  });
  shell.stdin.end(lines.map((line, i) => `${line}\necho "[line ${i} $?]"\n`).join(''));
  await once(shell, 'close');
  const statuses = [...output.matchAll(/\[line (\d+) (\d+)\]/g)];
  const failed = statuses.filter(([, , status]) => status !== '0').map(([, i]) => lines[Number(i)]);
  expect(failed).toEqual([]);
  expect(statuses).toHaveLength(lines.length);
  expect(output).toContain('"pi_a"');
  expect(output).toMatch(/MSM_B_G2 +\d+/);
  expect(output).toContain('"state":"completed"');
  expect(output).toContain('event: JOB_END');
  expect(output).toContain('\nvalid\n');
  await rm(folder, { recursive: true });
}, 180_000);
