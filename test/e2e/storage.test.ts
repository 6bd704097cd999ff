import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, open, readFile, rm, statfs, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { MIB } from '../../src/core/units.ts';
import { Api } from '../support/api.ts';
import { chainWitness, keepChainKey } from '../support/chain-files.ts';
import { type Service, serve } from '../support/command.ts';
import { keepPreimageKey, preimageWitness } from '../support/preimage.ts';

/** Keys and witnesses; each test copies what it needs. */
let templates: string;
let slowWitness: Uint8Array;
let quickWitness: Uint8Array;
const slow = { key: 'preimage', backend: 'cpu-reference' };
const quick = { key: 'chain', backend: 'cpu-reference' };
const folders: string[] = [];
const mounts: string[] = [];

beforeAll(async () => {
  templates = await mkdtemp(join(tmpdir(), 'proofline-storage-'));
  await keepChainKey(templates);
  await keepPreimageKey(templates);
  slowWitness = await preimageWitness(7n);
  quickWitness = await readFile(await chainWitness(templates, 3n));
});
afterAll(async () => {
  for (const path of mounts.reverse()) execFileSync('umount', [path]);
  for (const path of [templates, ...folders]) await rm(path, { recursive: true });
});

async function newFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'proofline-storage-'));
  folders.push(path);
  return path;
}

async function copyKeys(dataDir: string): Promise<void> {
  execFileSync('cp', ['-a', join(templates, 'keys'), dataDir]);
}

/** Skips, with the reason, where this user may not mount. */
function mount(context: TestContext, ...args: readonly string[]): void {
  try {
    execFileSync('mount', args, { stdio: 'pipe' });
  } catch (thrown) {
    context.skip(`mount ${args.join(' ')}: ${(thrown as Error).message.split('\n').at(1)}`);
  }
  mounts.push(args.at(-1) as string);
}

/** Fills a file system to the last byte. @returns what makes room again */
async function fill(folder: string): Promise<() => Promise<void>> {
  const path = join(folder, 'filler');
  const file = await open(path, 'w');
  const zeros = Buffer.alloc(4096);
  try {
    for (;;) await file.write(zeros);
  } catch (thrown) {
    expect((thrown as NodeJS.ErrnoException).code).toBe('ENOSPC');
  }
  await file.close();
  expect((await statfs(folder)).bavail).toBe(0);
  return () => rm(path);
}

/** One line on standard error, the command's exit status 3. */
function expectOneClearError(started: Promise<Service>, ...parts: readonly string[]) {
  return started.then(
    async (service) => {
      await service.stop('SIGKILL');
      expect.unreachable('the service started');
    },
    (thrown: Error) => {
      const [, status, text] = /ended with (\d+): ([\s\S]*)$/.exec(thrown.message) ?? [];
      expect(status, thrown.message).toBe('3');
      expect(text?.trim().split('\n')).toHaveLength(1);
      for (const part of parts) expect(text).toContain(part);
    },
  );
}

describe('a full disk', () => {
  it('refuses uploads and jobs until there is room, and keeps what was accepted', async (context) => {
    const folder = await newFolder();
    mount(context, '-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', folder);
    await copyKeys(folder);
    await using service = await serve(folder, { PROOFLINE_LOG_LEVEL: 'warn' });
    const api = new Api(service.url);
    const accepted = (await api.prove(slowWitness, slow)).body.job_id;
    const queued = (await api.prove(quickWitness, quick)).body.job_id;
    await api.reaches(accepted, 'running');
    const makeRoom = await fill(folder);
    for (const bytes of [slowWitness, new Uint8Array(3 * MIB)]) {
      const refused = await api.prove(bytes, slow);
      expect(refused).toMatchObject({
        status: 503,
        body: {
          error: {
            code: 'ERR_STORAGE',
            retry: 'later',
            message: expect.stringMatching(/^(payloads|jobs): cannot write: no space left/),
          },
        },
      });
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
    }
    expect(await api.send('/health/live')).toMatchObject({ status: 200 });
    // The first proof is made and kept until it can be written; the other job waits for the same.
    const refusals = (id: string) =>
      service
        .stderr()
        .split('\n')
        .filter((line) => line.includes(id));
    for (const id of [accepted, queued]) {
      await expect.poll(() => refusals(id).length, { timeout: 20_000 }).toBeGreaterThan(0);
      expect(refusals(id)[0]).toContain('jobs: cannot write: no space left');
    }
    await makeRoom();
    for (const id of [accepted, queued]) {
      const { body } = await api.reaches(id, 'completed', 'failed');
      expect(body).toMatchObject({ state: 'completed', verified: true, attempts: 1 });
    }
    const next = (await api.prove(quickWitness, quick)).body.job_id;
    await api.reaches(next, 'completed');
    const { jobs } = (await api.send('/v1/jobs')).body;
    expect(jobs.map(({ job_id }: { job_id: string }) => job_id)).toEqual([next, queued, accepted]);
    expect(await service.stop('SIGTERM')).toBe(0);
  });

  it('does not stop a service from starting or stopping, and it loses no job', async (context) => {
    const folder = await newFolder();
    mount(context, '-t', 'tmpfs', '-o', 'size=6m', 'tmpfs', folder);
    await copyKeys(folder);
    const id = await acceptAndKill(folder);
    const makeRoom = await fill(folder);
    const started = serve(folder, { PROOFLINE_LOG_LEVEL: 'warn' });
    const outcome = await started.then(
      async (service) => {
        expect(await service.stop('SIGTERM')).toBe(0);
        return service.stderr();
      },
      (refused: Error) => refused.message,
    );
    expect(outcome).not.toContain('internal error');
    await makeRoom();
    await using service = await serve(folder);
    expect((await new Api(service.url).reaches(id, 'completed')).body.verified).toBe(true);
  });
});

describe('a read-only folder', () => {
  it('keeps a service from starting, in one line', async (context) => {
    const folder = await newFolder();
    const id = await withKeys(folder, acceptAndKill);
    mount(context, '--bind', folder, folder);
    execFileSync('mount', ['-o', 'remount,ro,bind', folder]);
    await expectOneClearError(serve(folder), 'jobs.db.lock: cannot open: it may only be read');
    execFileSync('mount', ['-o', 'remount,rw,bind', folder]);
    await using service = await serve(folder);
    expect((await new Api(service.url).reaches(id, 'completed')).body.verified).toBe(true);
  });

  it('of payloads refuses uploads; jobs that were accepted are proved', async (context) => {
    const folder = await newFolder();
    await copyKeys(folder);
    await using service = await serve(folder);
    const api = new Api(service.url);
    const accepted = (await api.prove(slowWitness, slow)).body.job_id;
    const payloads = join(folder, 'payloads');
    mount(context, '--bind', payloads, payloads);
    execFileSync('mount', ['-o', 'remount,ro,bind', payloads]);
    expect(await api.prove(quickWitness, quick)).toMatchObject({
      status: 503,
      body: {
        error: { code: 'ERR_STORAGE', message: 'payloads: cannot write: it may only be read' },
      },
    });
    expect((await api.reaches(accepted, 'completed')).body.verified).toBe(true);
  });
});

it('a payload that was damaged after it was accepted fails its job alone; sent again, it is proved', async () => {
  const folder = await newFolder();
  await copyKeys(folder);
  await using service = await serve(folder);
  const api = new Api(service.url);
  const first = (await api.prove(slowWitness, slow)).body.job_id;
  const damaged = (await api.prove(quickWitness, quick)).body.job_id;
  const sha256 = createHash('sha256').update(quickWitness).digest('hex');
  const file = await open(join(folder, 'payloads', sha256), 'r+');
  await file.write(Buffer.from([0xff]), 0, 1, quickWitness.length - 20);
  await file.close();
  expect((await api.reaches(damaged, 'failed', 'completed')).body).toMatchObject({
    state: 'failed',
    error: { code: 'ERR_PAYLOAD_CORRUPT', retry: 'never', data: { sha256 } },
  });
  expect((await api.reaches(first, 'completed')).body.verified).toBe(true);
  const again = (await api.prove(quickWitness, quick)).body.job_id;
  expect((await api.reaches(again, 'failed', 'completed')).body.state).toBe('completed');
});

describe('a damaged database', () => {
  /** Offsets in a file of 4 KiB pages: its header, its schema, a page of rows. */
  it.each([
    ['header', 0],
    ['schema', 100],
    ['rows', 4096],
  ])('in its %s keeps a service from starting and is left as it is', async (_, offset) => {
    const folder = await newFolder();
    const id = await withKeys(folder, async (dataDir) => {
      await using service = await serve(dataDir);
      const api = new Api(service.url);
      const { job_id } = (await api.prove(quickWitness, quick)).body;
      await api.reaches(job_id, 'completed');
      expect(await service.stop('SIGTERM')).toBe(0);
      return job_id;
    });
    const path = join(folder, 'jobs.db');
    const intact = await readFile(path);
    const damaged = Buffer.from(intact);
    damaged.fill(0xa5, offset, offset + 64);
    await writeFile(path, damaged);
    await expectOneClearError(
      serve(folder),
      'jobs.db: expected an intact database',
      'left as it is',
    );
    expect((await readFile(path)).equals(damaged)).toBe(true);
    await writeFile(path, intact);
    await using service = await serve(folder);
    expect((await new Api(service.url).job(id)).body).toMatchObject({ state: 'completed' });
  });
});

async function withKeys(folder: string, work: (dataDir: string) => Promise<string>) {
  await mkdir(folder, { recursive: true });
  await copyKeys(folder);
  return work(folder);
}

/** Has a job accepted by a service that is then killed before it can prove it. */
async function acceptAndKill(folder: string): Promise<string> {
  await using service = await serve(folder);
  const { body } = await new Api(service.url).prove(slowWitness, slow);
  await service.stop('SIGKILL');
  return body.job_id;
}
