import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as snarkjs from 'snarkjs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CollectedSpan, startCollector } from '../support/collector.ts';
import { proofline, type Service, serve } from '../support/command.ts';

const example = (name: string) => `examples/preimage/${name}`;
let folder: string;
let service: Service;
let collector: Awaited<ReturnType<typeof startCollector>>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proofline-server-'));
  const key = join(folder, 'preimage.zkey');
  const made = ['setup', '--r1cs', example('preimage.r1cs'), '--out', key];
  const kept = ['--name', 'preimage', '--data-dir', folder];
  expect((await proofline([...made, ...kept, '--vk', join(folder, 'vk.json')])).code).toBe(0);
  collector = await startCollector();
  service = await serve(folder, {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '100',
    PROOFLINE_TIMELINE_LINES: 'true',
  });
});
afterAll(async () => {
  await service?.stop('SIGKILL');
  await collector?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

async function form(fields: Record<string, string>): Promise<FormData> {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.set(name, value);
  data.set('witness', new Blob([await readFile(example('witness.wtns'))]), 'witness.wtns');
  return data;
}

interface JobAnswer {
  readonly job_id: string;
  readonly state: string;
  readonly public: readonly string[];
  readonly key_digest: string;
  readonly proof: unknown;
}
/** The fields that these tests read. */
interface Answer extends JobAnswer {
  readonly sha256: string;
  readonly result: JobAnswer;
  readonly error: unknown;
  readonly backends: readonly { readonly state: string }[];
  readonly allocations: { readonly srs: readonly object[] };
}

async function call(path: string, options: RequestInit = {}) {
  const response = await fetch(new URL(path, service.url), options);
  return { status: response.status, body: (await response.json()) as Answer };
}

const rpc = (method: string, params: object, headers = {}) =>
  call('/rpc', {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 7, method, params }),
  });

it('proves a witness from a form; snarkjs accepts the proof that comes back', async () => {
  const body = await form({ key: 'preimage', wait: 'true' });
  const proved = await call('/v1/prove', { method: 'POST', body });
  expect(proved).toMatchObject({ status: 200, body: { state: 'completed', verified: true } });
  const vk = JSON.parse(await readFile(join(folder, 'vk.json'), 'utf8'));
  const proof = await call(`/v1/jobs/${proved.body.job_id}/proof.json`);
  expect(await snarkjs.groth16.verify(vk, proved.body.public, proof.body)).toBe(true);
  const resident = { circuit_id: proved.body.key_digest, evictable: true };
  expect((await call('/status')).body.allocations.srs).toMatchObject([resident]);
});

it('proves over JSON-RPC, uploads first, and verifies what it proved', async () => {
  const headers = { 'content-type': 'application/octet-stream' };
  const witness = await readFile(example('witness.wtns'));
  const stored = await call('/v1/payloads', { method: 'POST', body: witness, headers });
  const payload = { sha256: stored.body.sha256 };
  const params = { kind: 'circom', key: 'preimage', payload };
  const accepted = await rpc('prove', params);
  expect(accepted.body).toMatchObject({ id: 7, result: { state: 'queued' } });
  const inline = { ...params, payload: { base64: witness.toString('base64') }, wait: true };
  const { result } = (await rpc('prove', inline)).body;
  expect(result).toMatchObject({ state: 'completed', backend: expect.any(String) });
  const statement = { key: 'preimage', proof: result.proof, public: result.public };
  expect((await rpc('verify', statement)).body.result).toEqual({ valid: true });
  const other = { ...statement, public: [...result.public].reverse() };
  expect((await rpc('verify', other)).body.result).toMatchObject({ valid: false });
});

it('refuses a witness of another circuit by name', async () => {
  const base64 = Buffer.from('wtns').toString('base64');
  const params = { kind: 'circom', key: 'preimage', payload: { base64 }, wait: true };
  const { error } = (await rpc('prove', params)).body;
  expect(error).toMatchObject({ data: { code: 'ERR_FORMAT', retry: 'never' } });
});

it('sends the whole tree of a job to the collector, under the trace of its caller', async () => {
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  const parent = 'b7ad6b7169203331';
  const body = await form({ key: 'preimage', wait: 'true' });
  const headers = { traceparent: `00-${traceId}-${parent}-01` };
  await call('/v1/prove', { method: 'POST', body, headers });
  const ours = () => collector.spans.filter((span) => span.traceId === traceId);
  await expect.poll(() => ours().length, { timeout: 5000 }).toBeGreaterThan(12);
  const byId = new Map(ours().map((span) => [span.spanId, span]));
  const pathOf = (span: CollectedSpan | undefined): string =>
    span === undefined ? '' : `${pathOf(byId.get(span.parentSpanId ?? ''))}/${span.name}`;
  expect(ours().map(pathOf).sort()).toEqual(
    [
      '/JOB',
      '/JOB/QUEUE',
      '/JOB/SRS_LOAD',
      '/JOB/SYNTH',
      '/JOB/STAGE',
      '/JOB/STAGE/EVALUATE',
      '/JOB/GPU',
      '/JOB/GPU/NTT',
      '/JOB/GPU/MSM_H',
      '/JOB/GPU/MSM_L',
      '/JOB/GPU/MSM_A',
      '/JOB/GPU/MSM_B_G1',
      '/JOB/GPU/MSM_B_G2',
      '/JOB/FINISH',
      '/JOB/VERIFY',
      '/JOB/STORE',
    ].sort(),
  );
  const root = ours().find((span) => span.name === 'JOB');
  expect(root?.parentSpanId).toBe(parent);
  for (const span of ours()) {
    expect(BigInt(span.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(span.startTimeUnixNano));
  }
});

it('prints TIMELINE lines that users of cuzk can read', () => {
  const lines = service.stderr().split('\n');
  for (const event of ['SYNTH_START', 'SYNTH_END', 'GPU_QUEUE', 'GPU_PICKUP', 'GPU_END']) {
    expect(lines).toContainEqual(
      expect.stringMatching(new RegExp(`^TIMELINE,\\d+,${event},[0-9a-f-]{36},`)),
    );
  }
});

it('cancels a running job within a second', async () => {
  const accepted = await call('/v1/prove', {
    method: 'POST',
    body: await form({ key: 'preimage', backend: 'cpu-reference' }),
  });
  const id = accepted.body.job_id;
  const before = performance.now();
  await call(`/v1/jobs/${id}/cancel`, { method: 'POST' });
  await expect.poll(async () => (await call(`/v1/jobs/${id}`)).body.state).toBe('cancelled');
  await expect
    .poll(async () => (await call('/status')).body.backends.map(({ state }) => state))
    .not.toContain('proving');
  expect(performance.now() - before).toBeLessThan(1500);
});

it('answers while it proves, and stops when asked', async () => {
  await call('/v1/prove', { method: 'POST', body: await form({ key: 'preimage' }) });
  expect(await call('/health/live')).toMatchObject({ status: 200 });
  expect(await call('/health/ready')).toMatchObject({ status: 200 });
  expect(await service.stop('SIGTERM')).toBe(0);
});
