import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TimelineStage } from '../../src/trace/timeline.ts';
import { Api } from '../support/api.ts';
import { proofline, type Service, serve } from '../support/command.ts';
import { grpcClient } from '../support/grpc.ts';
import { golden } from '../support/shared.ts';

// Three sectors, two to a partition: two proofs.
const STATEMENT = golden('variants/window-2kib-3sectors.statement.json');
const VANILLA = [21, 22, 23].map((sector) =>
  golden(`variants/window-2kib-3sectors-vanilla-sector${sector}.bin`),
);
const PARTITION_BYTES = 192;

let folder: string;
let service: Service;
let api: Api;
let vk: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proofline-filecoin-'));
  vk = join(folder, 'window.vk');
  const circuit = ['--circuit', 'window-post', '--sector-size', '2KiB', '--insecure-seed', 'test'];
  const kept = ['--out', join(folder, 'window.params'), '--name', 'window'];
  const made = await proofline(['setup', ...circuit, ...kept, '--data-dir', folder]);
  expect(made).toMatchObject({ code: 0, stderr: '' });
  service = await startService();
  api = new Api(service.url);
}, 60_000);

const startService = () =>
  serve(folder, {
    PROOFLINE_TIMELINE_LINES: 'true',
    PROOFLINE_GRPC_LISTEN: `unix://${folder}/cuzk.sock`,
  });

afterAll(async () => {
  await service?.stop('SIGKILL');
  await rm(folder, { recursive: true });
});

async function send(
  fields: Readonly<Record<string, string>>,
  statement = STATEMENT,
  vanilla: readonly string[] = VANILLA,
  headers: Record<string, string> = {},
) {
  const body = new FormData();
  for (const [name, value] of Object.entries({ kind: 'window-post', ...fields })) {
    body.set(name, value);
  }
  body.set('statement', new Blob([await readFile(statement)]), 's.json');
  for (const path of vanilla) body.append('vanilla', new Blob([await readFile(path)]), 'v.bin');
  return fetch(new URL('/v1/prove', service.url), { method: 'POST', body, headers });
}

async function stagesOf(id: string, stage: string): Promise<readonly TimelineStage[]> {
  const { body } = await api.send(`/v1/jobs/${id}/timeline`);
  return body.stages.filter((span: TimelineStage) => span.stage === stage);
}

it('proves every partition and answers the bytes that the chain takes', async () => {
  const accept = { accept: 'application/octet-stream' };
  const answer = await send({ wait: 'true', idempotency_key: 'once' }, STATEMENT, VANILLA, accept);
  const bytes = Buffer.from(await answer.arrayBuffer());
  expect(bytes).toHaveLength(2 * PARTITION_BYTES);
  const path = answer.headers.get('location') as string;
  const { body: job } = await api.send(path);
  expect(job).toMatchObject({
    ...{ kind: 'window-post', state: 'completed', proof: bytes.toString('hex'), verified: true },
    ...{ registered_proof: 'StackedDrgWindow2KiBV1_2', attempts: 1 },
    partitions: [
      { partition: 0, attempts: 1 },
      { partition: 1, attempts: 1 },
    ],
  });
  const gpu = await stagesOf(job.job_id, 'GPU');
  expect(gpu.map(({ partition }) => partition)).toEqual([0, 1]);
  const [, second] = await stagesOf(job.job_id, 'VANILLA');
  expect(second?.partition).toBe(1);
  expect(second?.start_ms).toBeLessThan(gpu[0]?.start_ms ?? 0);
  const lines = service.stderr().match(/TIMELINE,\d+,GPU_START,.*/g) ?? [];
  expect(lines.map((line) => line.split(',').at(-1))).toEqual(['partition=0', 'partition=1']);

  const proof = join(folder, 'proof.bin');
  await writeFile(proof, bytes);
  const verified = ['verify', '--vk', vk, '--statement', STATEMENT, '--proof', proof];
  expect(await proofline(verified)).toMatchObject({ code: 0, stdout: 'valid\n' });

  const again = (await (await send({ idempotency_key: 'once' })).json()) as { job_id: string };
  expect(again.job_id).toBe(job.job_id);
  const other = await send({ idempotency_key: 'once', partition: '0' });
  expect(other.status).toBe(422);
});

interface Refusal {
  readonly status: number;
  readonly message: RegExp;
  readonly fields?: Record<string, string>;
  readonly statement?: object;
  readonly files?: number;
}
it.each<[what: string, refusal: Refusal]>([
  [
    'a statement of another count',
    { status: 422, message: /^statement: partitions: exp/, statement: { partitions: 3 } },
  ],
  [
    'a partition too many',
    { status: 400, message: /^partition: expected below 2, got 2/, fields: { partition: '2' } },
  ],
  [
    'a missing vanilla proof',
    { status: 422, message: /partition 1, sector 23: /, fields: { partition: '1' }, files: 2 },
  ],
  [
    'other randomness',
    {
      ...{ status: 422, message: /partition 0, sector 2\d, challenge \d: / },
      statement: { randomness: '11'.repeat(32) },
    },
  ],
])('refuses %s, saying what is wrong, and does not try again', async (_, refusal) => {
  const { status, message, fields, statement, files = 3 } = refusal;
  const path = join(folder, 'changed.json');
  await writeFile(
    path,
    JSON.stringify({ ...JSON.parse(await readFile(STATEMENT, 'utf8')), ...statement }),
  );
  const answer = await send({ wait: 'true', ...fields }, path, VANILLA.slice(0, files));
  const { error } = (await answer.json()) as { error: Record<string, unknown> };
  expect([answer.status, error.message]).toEqual([status, expect.stringMatching(message)]);
  const { body } = await api.send('/v1/jobs?limit=1&state=failed');
  for (const { job_id: id } of body.jobs) expect(await stagesOf(id, 'VANILLA')).toHaveLength(1);
});

it('repeats only the partition under which its host was killed', async () => {
  const { job_id: id } = (await (await send({})).json()) as { job_id: string };
  for (;;) {
    const { body } = await api.job(id);
    if (body.state === 'completed') throw new Error('too late to kill its host');
    if (body.progress >= 0.55) break;
  }
  const children = await readFile(`/proc/${service.pid}/task/${service.pid}/children`, 'utf8');
  for (const child of children.trim().split(' ')) process.kill(Number(child), 'SIGKILL');
  const { body: job } = await api.reaches(id, 'completed', 'failed');
  expect(job).toMatchObject({
    state: 'completed',
    partitions: [
      { partition: 0, attempts: 1 },
      { partition: 1, attempts: 2 },
    ],
  });
  const finished = await stagesOf(id, 'VERIFY');
  expect(finished.map(({ partition }) => partition)).toEqual([0, 1]);
});

it('proves for Curio, once, also when it is killed in mid-proof', async () => {
  const client = grpcClient(`unix://${folder}/cuzk.sock`);
  const [job_id, circuit_id] = ['wdpost-1000-0-[1 2 3 4 5 6 7 8]', 'wpost-2k'];
  const vanilla = [1, 2].map((sector) => golden(`window-2kib-vanilla-sector${sector}.bin`));
  const submit = {
    ...{ request_id: job_id, proof_kind: 3, priority: 3, sector_size: 2048, miner_id: 1000 },
    ...{ registered_proof: 10, partition_index: 0, randomness: Buffer.alloc(32, 3) },
    vanilla_proofs: await Promise.all(vanilla.map((path) => readFile(path))),
  };
  const preload = () => client.call('PreloadSRS', { circuit_id });
  expect(await preload()).toMatchObject({ already_loaded: true });
  expect(await client.call('EvictSRS', { circuit_id })).toMatchObject({ was_loaded: true });
  expect((await client.call('GetStatus')).loaded_srs).toEqual([]);
  expect(await preload()).toMatchObject({ already_loaded: false });
  expect((await client.call('GetStatus')).loaded_srs).toMatchObject([{ circuit_id, tier: 1 }]);

  const jobsBefore = (await api.send('/v1/jobs')).body.jobs.length;
  const lost = client.call('Prove', { submit }).catch((error) => error);
  for (;;) {
    const { gpus } = await client.call('GetStatus');
    if (gpus.some((gpu: { current_job_id: string }) => gpu.current_job_id === job_id)) break;
  }
  const evict = client.call('EvictSRS', { circuit_id });
  await expect(evict).rejects.toMatchObject({ code: 9 });
  await service.stop('SIGKILL');
  expect(await lost).toMatchObject({ code: 14 });
  service = await startService();
  const { result } = await client.call('Prove', { submit });
  expect(result).toMatchObject({ job_id, status: 1, error_message: '' });
  expect((await client.call('AwaitProof', { job_id })).proof).toEqual(result.proof);
  client.close();
  const again = new Api(service.url);
  const { jobs } = (await again.send('/v1/jobs')).body;
  const { body: job } = await again.job(jobs[0].job_id);
  expect(job).toMatchObject({ state: 'completed', proof: result.proof.toString('hex') });
  expect(jobs).toHaveLength(1 + jobsBefore);
  expect(service.stderr()).toContain(`GPU_END,${job_id},worker=0,partition=0`);

  const proof = join(folder, 'proof.bin');
  await writeFile(proof, result.proof);
  const statement = golden('window-2kib.statement.json');
  const verified = ['verify', '--vk', vk, '--statement', statement, '--proof', proof];
  expect(await proofline(verified)).toMatchObject({ code: 0, stdout: 'valid\n' });
});
