import { readdirSync } from 'node:fs';
import { mkdtemp, readFile, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { writeBigIntBE, writeBigIntLE } from '../../src/core/bytes.ts';
import { curveOf } from '../../src/math/curve.ts';
import { Api } from '../support/api.ts';
import { startCollector } from '../support/collector.ts';
import { proofline, type Service, serve } from '../support/command.ts';
import { keepPreimageKey, preimageWitness } from '../support/preimage.ts';
import { scalarOf } from '../support/system.ts';

/** The private input, and what the witness computes from it, hold the secrets. */
const X = scalarOf('proofline test secret x');
/** Offset of the values in a `.wtns` file, and the wires that are public: 1, the hash, the salt. */
const [VALUES_OFFSET, PUBLIC_WIRES] = [76, 3];
const slow = { key: 'preimage', backend: 'cpu-reference' };

let folder: string;
let collector: Awaited<ReturnType<typeof startCollector>>;
let service: Service;
let api: Api;
let token: string;
let intact: Uint8Array;
/** Everything that came out of the service, by where. */
const told: Record<string, string> = {};

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proofline-secrets-'));
  await keepPreimageKey(folder);
  const created = ['token', 'create', '--name', 'ci', '--scope', 'admin', '--json'];
  token = JSON.parse((await proofline([...created, '--data-dir', folder])).stdout).token;
  expect(token).toMatch(/^plt_/);
  collector = await startCollector();
  intact = await preimageWitness(X);
});
afterAll(async () => {
  await service?.stop('SIGKILL');
  await collector?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true });
});

it('a service that proves, fails, crashes and is misused tells a lot', async () => {
  service = await serve(folder, {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_BSP_SCHEDULE_DELAY: '100',
    PROOFLINE_TIMELINE_LINES: 'true',
    PROOFLINE_LOG_LEVEL: 'debug',
    PROOFLINE_TOKEN: token,
  });
  api = new Api(service.url, { authorization: `Bearer ${token}` });
  const events = followEvents();
  const proved = (await api.prove(intact, slow)).body.job_id;
  await api.reaches(proved, 'completed');
  const unsatisfied = (await api.prove(withLastValue(X), slow)).body.job_id;
  const crashing = (await api.prove(intact, { ...slow, idempotency_key: 'crash' })).body.job_id;
  expect((await api.reaches(unsatisfied, 'failed')).body.error.code).toBe(
    'ERR_WITNESS_UNSATISFIED',
  );
  await api.reaches(crashing, 'running');
  await killHosts();
  expect((await api.reaches(crashing, 'completed')).body.verified).toBe(true);
  const { r } = curveOf('bn254');
  const large = (await api.prove(withLastValue(r + 2n ** 200n), slow)).body.job_id;
  expect((await api.reaches(large, 'failed')).body.error.code).toBe('ERR_FORMAT');
  const cut = (await api.prove(intact.subarray(0, intact.length - 7), slow)).body.job_id;
  expect((await api.reaches(cut, 'failed')).body.error.code).toBe('ERR_FORMAT');
  const cancelled = (await api.prove(intact, slow)).body.job_id;
  await api.reaches(cancelled, 'running');
  await api.cancel(cancelled);
  await misuse();
  for (const id of [proved, unsatisfied, crashing, large, cut, cancelled]) {
    await api.job(id);
    await api.send(`/v1/jobs/${id}/timeline`);
    await api.send(`/v1/jobs/${id}/timeline`, { headers: { accept: 'text/plain' } });
  }
  for (const path of ['/metrics', '/status', '/v1/jobs', '/v1/keys']) await api.send(path);
  told.events = await events.end();
  expect(await service.stop('SIGTERM')).toBe(0);
  told.shown = (await proofline(['config', 'show'], { PROOFLINE_TOKEN: token })).stdout;
  told.answers = api.heard.join('\n');
  told.stderr = service.stderr();
  told.spans = JSON.stringify(collector.spans);
  for (const [name, text] of Object.entries(await filesBeside('payloads'))) told[name] = text;
});

it('was heard: logs at debug level, TIMELINE lines, spans, events, answers, the database', () => {
  expect(told.stderr).toContain('"level":"debug"');
  expect(told.stderr).toContain('TIMELINE,');
  expect(told.spans).toContain('"name":"MSM_H"');
  expect(told.events).toContain('event: SYNTH_START');
  expect(told.answers).toContain('ERR_WITNESS_UNSATISFIED');
  expect(told['jobs.db']).toContain('ERR_WITNESS_UNSATISFIED');
  expect(Object.keys(told)).toContain('tokens.json');
  expect(Object.keys(told).some((name) => name.endsWith('meta.json'))).toBe(true);
});

it('but no value of a witness, in any spelling, and no token', () => {
  // The search itself finds what is there: the public hash of the witness, which answers name.
  const [hash] = valuesOf(intact).slice(1);
  expect(found({ answers: told.answers as string }, spellings(hash as bigint))).toEqual([
    'answers',
  ]);
  const secrets = valuesOf(intact)
    .slice(PUBLIC_WIRES)
    .filter((value) => value > 2n ** 64n);
  expect(secrets).toContain(X);
  expect(secrets.length).toBeGreaterThan(400);
  const needles = [...new Set([...secrets, X].flatMap(spellings)), token, token.slice(4)];
  expect(found(told, needles)).toEqual([]);
});

it('payloads that no job waits for are removed an hour later', async () => {
  const payloads = join(folder, 'payloads');
  const names = readdirSync(payloads);
  expect(names.length).toBeGreaterThan(2);
  const before = new Date(Date.now() - 2 * 3_600_000);
  for (const name of names) await utimes(join(payloads, name), before, before);
  await using next = await serve(folder);
  const fresh = new Api(next.url, { authorization: `Bearer ${token}` });
  const { body } = await fresh.post('/v1/payloads', new Uint8Array(10), {
    'content-type': 'application/octet-stream',
  });
  expect(readdirSync(payloads)).toEqual([body.sha256]);
});

function valuesOf(wtns: Uint8Array): bigint[] {
  const values: bigint[] = [];
  for (let at = VALUES_OFFSET; at < wtns.length; at += 32) {
    const hex = Buffer.from(wtns.subarray(at, at + 32))
      .reverse()
      .toString('hex');
    values.push(BigInt(`0x${hex}`));
  }
  return values;
}

function withLastValue(value: bigint): Uint8Array {
  const copy = Buffer.from(intact);
  copy.set(writeBigIntLE(value, 32), copy.length - 32);
  return copy;
}

/** Every way in which a log or a file may spell a number; base64 in its three alignments. */
function spellings(value: bigint): string[] {
  const forms = [writeBigIntLE(value, 32), writeBigIntBE(value, 32)].map((b) => Buffer.from(b));
  return [
    String(value),
    value.toString(16),
    ...forms.map((bytes) => bytes.toString('hex')),
    ...forms.map((bytes) => bytes.toString('latin1')),
    ...forms.flatMap((bytes) =>
      [0, 1, 2].map((shift) => bytes.subarray(shift, shift + 27).toString('base64')),
    ),
  ];
}

/** Where one of the needles stands. */
function found(haystacks: Record<string, string>, needles: readonly string[]): string[] {
  return Object.entries(haystacks)
    .filter(([, text]) => {
      const lower = text.toLowerCase();
      return needles.some((needle) => text.includes(needle) || lower.includes(needle));
    })
    .map(([name]) => name);
}

/** Secrets where they do not belong. */
async function misuse(): Promise<void> {
  const base64 = Buffer.from(intact.subarray(0, 500)).toString('base64');
  const prove = { kind: 'circom', key: 'preimage', payload: { base64 } };
  const call = (params: object) => ({ jsonrpc: '2.0', id: 1, method: 'prove', params });
  await api.post('/rpc', call({ ...prove, wait: true }));
  await api.post('/rpc', call({ ...prove, payload: { base64: `${base64}!` } }));
  await api.post('/rpc', call({ ...prove, payload: { base64: [String(X)] } }));
  await api.post('/rpc', call({ ...prove, key: [String(X)], [`${X}`.repeat(2)]: 1 }));
  await api.post('/rpc', `{"id":1,"params":"${X}`);
  await api.post('/v1/prove', intact);
  await api.post('/v1/prove', intact, { 'content-type': 'multipart/form-data; boundary=x' });
  await api.prove(intact, { ...slow, wait: String(X) });
  await api.prove(intact, { ...slow, deadline: String(X) });
  await api.post('/v1/verify', { key: 'preimage', proof: { pi_a: String(X) }, public: [`${X}`] });
  await api.send(`/v1/jobs?key=${token}&cursor=${token}`);
  await api.send(`/v1/jobs/${token}`, { headers: { authorization: `Basic ${token}` } });
  await api.send('/status', { headers: { authorization: `Bearer ${token}x` } });
  await api.send('/v1/log-level', { method: 'PUT', body: JSON.stringify({ level: token }) });
}

function followEvents() {
  const stop = new AbortController();
  const headers = { authorization: `Bearer ${token}` };
  const text = fetch(new URL('/v1/events', service.url), { headers, signal: stop.signal }).then(
    async (response) => {
      let all = '';
      try {
        for await (const chunk of response.body ?? []) all += Buffer.from(chunk).toString();
      } catch {
        // It is we who end it.
      }
      return all;
    },
  );
  return {
    end() {
      stop.abort();
      return text;
    },
  };
}

async function killHosts(): Promise<void> {
  const children = await readFile(`/proc/${service.pid}/task/${service.pid}/children`, 'utf8');
  for (const child of children.trim().split(' ')) process.kill(Number(child), 'SIGKILL');
}

/** The files of the data folder as Latin-1, but for one folder and for keys themselves. */
async function filesBeside(excluded: string): Promise<Record<string, string>> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.zkey'))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((name) => !name.startsWith(excluded));
  const texts = names.map(async (name) => [name, await readFile(join(folder, name), 'latin1')]);
  return Object.fromEntries(await Promise.all(texts));
}
