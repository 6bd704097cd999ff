import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type * as Library from '../../src/client/client.ts';
import { chainWitness, keepChainKey } from '../support/chain-files.ts';
import { proofline, type Service, serve } from '../support/command.ts';

let folder: string;
let service: Service;
let library: typeof Library;
let token: string;
let witness: Uint8Array<ArrayBuffer>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proofline-client-'));
  await keepChainKey(folder);
  const made = ['token', 'create', '--name', 'client', '--scope', 'write', '--json'];
  token = JSON.parse((await proofline([...made, '--data-dir', folder])).stdout).token;
  service = await serve(folder, { PROOFLINE_LOG_LEVEL: 'silent' });
  library = await import('proofline' as string);
  witness = new Uint8Array(await readFile(await chainWitness(folder, 5n)));
});
afterAll(async () => {
  await service?.stop('SIGKILL');
  await rm(folder, { recursive: true });
});

const client = () => library.connect(service.url, { token });

it('proves, verifies, lists and draws timelines', async () => {
  const shares: number[] = [];
  const onProgress = (share: number) => void shares.push(share);
  const job = await client().prove({ key: 'chain', witness }, { onProgress });
  expect(job).toMatchObject({ state: 'completed', public: ['5'], verified: true });
  expect(shares.at(-1)).toBe(1);
  const { proof, public: inputs } = job;
  expect(await client().verify({ key: 'chain', proof, public: inputs })).toEqual({ valid: true });
  expect((await client().jobs({ state: 'completed' })).jobs[0]?.job_id).toBe(job.job_id);
  expect((await client().timeline(job.job_id)).stages.map(({ stage }) => stage)).toContain('GPU');
  expect((await client().keys()).keys.map(({ name }) => name)).toEqual(['chain']);
  expect((await client().status()).counters.total_completed).toBe(1);
});

it('follows the events of a job to its end', async () => {
  const { job_id: jobId } = await client().submit({ key: 'chain', witness: new Blob([witness]) });
  const seen: string[] = [];
  for await (const { event } of client().events({ jobId })) seen.push(event);
  expect(seen[0]).toBe('JOB_START');
  expect(seen.at(-1)).toBe('JOB_END');
});

it('throws what the service threw', async () => {
  const unknown = client().prove({ key: 'none', witness });
  await expect(unknown).rejects.toBeInstanceOf(library.ProverError);
  await expect(unknown).rejects.toMatchObject({ code: 'ERR_KEY_UNKNOWN' });
  const bad = client().prove({ key: 'chain', witness: new Uint8Array([1, 2, 3]) });
  await expect(bad).rejects.toMatchObject({ code: 'ERR_FORMAT' });
  const stranger = library.connect(service.url).status();
  await expect(stranger).rejects.toMatchObject({ code: 'ERR_UNAUTHORIZED' });
  const nobody = library.connect('http://127.0.0.1:1').status();
  await expect(nobody).rejects.toMatchObject({ code: 'ERR_UNREACHABLE' });
  expect(() => library.connect('ftp://127.0.0.1')).toThrow('server: expected a URL');
});

it('stops waiting when it is told to', async () => {
  const signal = AbortSignal.timeout(50);
  const waiting = client().prove({ key: 'chain', witness }, { signal });
  await expect(waiting).rejects.toMatchObject({ code: 'ERR_CANCELLED' });
});

it('needs nothing that a browser lacks', async () => {
  const seen = new Set<string>();
  const check = async (file: string): Promise<void> => {
    if (seen.has(file)) return;
    seen.add(file);
    const code = await readFile(join('dist', file), 'utf8');
    expect(code).not.toMatch(/from\s*["']node:|\bBuffer\b|\bprocess\b/);
    const chunks = [...code.matchAll(/from\s*["']\.\/(chunk-[^"']+)["']/g)];
    await Promise.all(chunks.map((match) => check(match[1] as string)));
  };
  await check('client.js');
});

it('works as in the example', async () => {
  const run = promisify(execFile);
  const path = await chainWitness(folder, 6n);
  const { stdout } = await run(
    process.execPath,
    ['examples/client/prove.mjs', service.url, 'chain', path],
    { env: { ...process.env, PROOFLINE_TOKEN: token } },
  );
  expect(stdout).toContain("[ '6' ] { valid: true }");
});
