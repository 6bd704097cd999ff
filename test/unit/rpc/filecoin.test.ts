import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import type { FilecoinOutcome } from '../../../src/pipeline/pipeline.ts';
import { KEY } from '../../support/fake-service.ts';
import { type TestApp, testApp } from '../../support/rpc-app.ts';
import { golden } from '../../support/shared.ts';

const c1 = gunzipSync(readFileSync(golden('porep-2kib-c1.json.gz')));
const wrapped = gunzipSync(readFileSync(golden('porep-2kib-c1-wrapped.json.gz')));
const porep = JSON.parse(readFileSync(golden('porep-2kib.statement.json'), 'utf8'));
const STATEMENT = { kind: 'window-post', randomness: '00', sectors: [1, 2] };

const STATEMENT_OF = { kind: 'window-post', statement: STATEMENT };

const PROOFS = ['ab'.repeat(192), 'cd'.repeat(192)] as const;
const OUTCOME: FilecoinOutcome = {
  kind: 'window-post',
  registeredProof: 'StackedDrgWindow2KiBV1_2',
  proof: PROOFS.join(''),
  partitions: [
    { partition: 0, backend: 'cpu', device: '0', attempts: 1 },
    { partition: 1, backend: 'cpu', device: '0', attempts: 2, fallbackReason: 'a fault' },
  ],
  keyDigest: KEY.digest,
  backend: 'cpu',
  device: '0',
  attempts: 2,
  fallbackReason: 'a fault',
  verified: true,
};

// biome-ignore lint/suspicious/noExplicitAny: tests say what they expect
const json = async (answer: Response | Promise<Response>): Promise<any> => (await answer).json();
const digest = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');
const base64 = (bytes: Uint8Array | string) => ({ base64: Buffer.from(bytes).toString('base64') });

/** The stored bytes, as JSON. */
async function storedJson({ services }: TestApp, sha256: string): Promise<unknown> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of services.payloads.read(sha256)) chunks.push(chunk);
  return JSON.parse(Buffer.concat(chunks).toString());
}

function form(fields: readonly (readonly [string, string | Uint8Array])[]): FormData {
  const data = new FormData();
  for (const [name, value] of fields) {
    data.append(name, typeof value === 'string' ? value : new Blob([Buffer.from(value)]));
  }
  return data;
}
const post = (app: TestApp, fields: Parameters<typeof form>[0], accept = '*/*') =>
  app.request('/v1/prove', { method: 'POST', body: form(fields), headers: { accept } });

function submitted(app: TestApp) {
  const request = app.services.jobs.submitted[0]?.request;
  if (request === undefined || request.kind === 'circom') throw new Error('no such job');
  return request;
}

describe('prove', () => {
  it('stores the statement of a request, with its kind, and names vanilla proofs in order', async () => {
    const app = testApp();
    const { kind, ...statement } = STATEMENT;
    const vanilla = ['one', 'two'].map(base64);
    const { error } = await app.rpc('prove', { kind, statement, vanilla, partition: 1 });
    expect(error).toBeUndefined();
    const request = submitted(app);
    expect(request).toMatchObject({ kind, vanilla: ['one', 'two'].map(digest), partition: 1 });
    expect(request).not.toHaveProperty('key');
    expect(await storedJson(app, request.statement)).toEqual(STATEMENT);
  });

  it('takes uploads, and a key by its name', async () => {
    const app = testApp();
    const upload = async (body: string) =>
      await json(app.request('/v1/payloads', { method: 'POST', body }));
    const [statement, file] = [await upload('{}'), await upload('proof')];
    const named = { sha256: file.sha256 };
    await app.rpc('prove', {
      ...{ kind: 'snap-deals', key: KEY.name, vanilla: [named, named] },
      statement: { sha256: statement.sha256 },
    });
    expect(submitted(app)).toEqual({
      ...{ kind: 'snap-deals', key: KEY.name, statement: digest('{}') },
      vanilla: [digest('proof'), digest('proof')],
    });
  });

  it.each([
    ['a bare C1', c1, { sector_number: 1 }],
    ['a wrapped C1, which says the sector', wrapped, {}],
    ['a wrapped C1 and the sector', wrapped, { sector_number: '1' }],
  ])("reads a PoRep's statement from %s", async (_, bytes, fields) => {
    const app = testApp();
    const params = { kind: 'porep', miner: 'f01000', vanilla: [base64(bytes)], ...fields };
    expect((await app.rpc('prove', params)).error).toBeUndefined();
    expect(await storedJson(app, submitted(app).statement)).toEqual({
      ...{ kind: 'porep', registered_proof: porep.registered_proof, prover_id: 'f01000' },
      ...{ sector_number: '1', ticket: porep.ticket, seed: porep.seed },
      ...{ comm_r: porep.comm_r, comm_d: porep.comm_d },
    });
  });

  const one = [base64('one')];
  it.each<[message: string, params: object]>([
    [
      'params.payload: expected no such parameter for porep, got one',
      { kind: 'porep', payload: one[0], vanilla: one },
    ],
    [
      'params.vanilla: expected no such parameter for circom, got one',
      { kind: 'circom', key: KEY.name, payload: one[0], vanilla: one },
    ],
    [
      'params.vanilla: expected vanilla proofs for winning-post, got nothing',
      { kind: 'winning-post', statement: STATEMENT },
    ],
    [
      'params.vanilla: expected at least one, got an array',
      { kind: 'porep', miner: 'f01', vanilla: [] },
    ],
    [
      'params.vanilla: expected at most 10000, got an array',
      { kind: 'porep', miner: 'f01', vanilla: Array(10_001).fill(one[0]) },
    ],
    [
      'params.statement: expected a statement for window-post, got nothing',
      { kind: 'window-post', vanilla: one },
    ],
    [
      'params.statement: expected a statement, or miner and sector_number for porep, got nothing',
      { kind: 'porep', vanilla: one },
    ],
    [
      'params.statement: expected a JSON object of few levels, or {sha256} of an upload, got an object',
      { kind: 'snap-deals', statement: { sha256: '../../keys' }, vanilla: one },
    ],
    [
      'params.statement: expected a JSON object of few levels, or {sha256} of an upload, got an object',
      { kind: 'snap-deals', statement: { sha256: 'a'.repeat(64), kind: 'porep' }, vanilla: one },
    ],
    [
      'params.miner: expected no such parameter for snap-deals, got one',
      { kind: 'snap-deals', statement: STATEMENT, miner: 'f01', vanilla: one },
    ],
    [
      'params.miner: expected no such parameter for porep with a statement, got one',
      { kind: 'porep', statement: STATEMENT, miner: 'f01', vanilla: one },
    ],
    [
      "params.miner: expected a miner's id address such as f01000, got another string",
      { kind: 'porep', miner: 'f1000', vanilla: one },
    ],
    [
      'params.sector_number: expected the number of the sector, which the vanilla proof does not say, got nothing',
      { kind: 'porep', miner: 'f01', vanilla: [base64(c1)] },
    ],
    [
      'params.partition: expected number to be >=0, got another number',
      { kind: 'porep', miner: 'f01', vanilla: one, partition: -1 },
    ],
  ])('%s', async (message, params) => {
    const app = testApp();
    const { error } = await app.rpc('prove', params);
    expect(error).toMatchObject({ message, data: { code: 'ERR_PARAMS' } });
    expect(app.services.jobs.submitted).toEqual([]);
  });

  it('says what a C1 lacks', async () => {
    const params = { kind: 'porep', miner: 'f01', sector_number: 1, vanilla: [base64('{}')] };
    expect((await testApp().rpc('prove', params)).error?.data?.code).toBe('ERR_FORMAT');
  });
});

describe('POST /v1/prove', () => {
  const files = [
    ['kind', 'window-post'],
    ['statement', Buffer.from('{"kind":"window-post"}')],
    ...Array.from({ length: 300 }, (_, i) => ['vanilla', Buffer.from(`proof ${i}`)] as const),
  ] as const;

  it('takes many files, in their order', async () => {
    const app = testApp();
    expect((await post(app, files)).status).toBe(202);
    expect(submitted(app)).toEqual({
      kind: 'window-post',
      statement: digest('{"kind":"window-post"}'),
      vanilla: Array.from({ length: 300 }, (_, i) => digest(`proof ${i}`)),
    });
  });

  it('takes a PoRep by its C1, miner and sector', async () => {
    const app = testApp();
    const fields = [
      ...([
        ['kind', 'porep'],
        ['vanilla', c1],
        ['miner', 'f01000'],
      ] as const),
      ...([
        ['sector_number', '1'],
        ['partition', '0'],
        ['strict', 'true'],
      ] as const),
    ];
    expect((await post(app, fields)).status).toBe(202);
    expect(submitted(app)).toMatchObject({ partition: 0, strict: true, vanilla: [digest(c1)] });
  });

  it.each([
    ['a second statement', [...files, ['statement', Buffer.from('{}')] as const]],
    ['a partition that is no number', [...files, ['partition', '1e1'] as const]],
    ['a statement as text', [['kind', 'porep'] as const, ['statement', '{}'] as const]],
  ])('refuses %s', async (_, fields) => {
    const app = testApp();
    expect((await post(app, fields)).status).toBe(400);
    expect(app.services.jobs.submitted).toEqual([]);
  });

  it('answers the bytes of the proof where they are asked for', async () => {
    const app = testApp();
    const answering = post(app, [...files, ['wait', 'true']], 'application/octet-stream');
    while (app.services.jobs.waiting === 0) await new Promise((turn) => setImmediate(turn));
    app.services.jobs.complete('job-1', OUTCOME);
    const answer = await answering;
    expect(answer.headers.get('content-type')).toBe('application/octet-stream');
    expect(answer.headers.get('location')).toBe('/v1/jobs/job-1');
    expect(Buffer.from(await answer.arrayBuffer()).toString('hex')).toBe(OUTCOME.proof);
  });
});

describe('the result', () => {
  it('is the proof in hex, and how each partition came about', async () => {
    const app = testApp();
    await app.rpc('prove', { ...STATEMENT_OF, vanilla: [base64('one')] });
    app.services.jobs.complete('job-1', OUTCOME);
    const { result } = await app.rpc('result', { job_id: 'job-1' });
    expect(result).toMatchObject({
      ...{ kind: 'window-post', key: KEY.digest, registered_proof: OUTCOME.registeredProof },
      ...{ proof: OUTCOME.proof, backend: 'cpu', attempts: 2, fallback_reason: 'a fault' },
      partitions: [
        { partition: 0, backend: 'cpu', device: '0', attempts: 1 },
        { partition: 1, backend: 'cpu', device: '0', attempts: 2, fallback_reason: 'a fault' },
      ],
    });
    expect(result).not.toHaveProperty('aggregated');
    expect(result).not.toHaveProperty('public');
    const [listed] = (await json(app.get('/v1/jobs'))).jobs;
    expect(listed).toMatchObject({ kind: 'window-post', state: 'completed' });
    expect(listed).not.toHaveProperty('proof');
  });

  it('says of a PoRep that is not interactive that it is not aggregated', async () => {
    const app = testApp();
    await app.rpc('prove', { ...STATEMENT_OF, vanilla: [base64('one')] });
    app.services.jobs.complete('job-1', { ...OUTCOME, aggregated: false });
    expect((await app.rpc('result', { job_id: 'job-1' })).result.aggregated).toBe(false);
  });

  it('is a file of bytes, and no file of snarkjs', async () => {
    const app = testApp();
    await app.rpc('prove', { ...STATEMENT_OF, vanilla: [base64('one')] });
    expect((await app.get('/v1/jobs/job-1/proof.bin')).status).toBe(409);
    app.services.jobs.complete('job-1', OUTCOME);
    const bytes = await (await app.get('/v1/jobs/job-1/proof.bin')).arrayBuffer();
    expect(Buffer.from(bytes).toString('hex')).toBe(OUTCOME.proof);
    const text = await app.get('/v1/jobs/job-1/proof.json');
    expect(text.status).toBe(400);
    expect((await json(text)).error.message).toBe('job: expected one of circom, got window-post');
  });

  it('of circom is no file of bytes', async () => {
    const app = testApp();
    app.services.jobs.instant = true;
    await app.rpc('prove', { kind: 'circom', key: KEY.name, payload: base64('w') });
    const answer = await app.get('/v1/jobs/job-1/proof.bin');
    expect(answer.status).toBe(400);
  });
});

describe('verify', () => {
  it('takes a statement and a proof in hex', async () => {
    const app = testApp();
    const params = { statement: STATEMENT, proof: OUTCOME.proof };
    expect((await app.rpc('verify', params)).result).toEqual({ valid: true });
    await app.post('/v1/verify', { ...params, key: KEY.name });
    expect(app.services.jobs.verified).toEqual([params, { ...params, key: KEY.name }]);
  });

  it.each<[message: string, params: object]>([
    [
      'params: expected either a statement, or public inputs and their key, got both',
      { statement: STATEMENT, proof: OUTCOME.proof, public: [] },
    ],
    [
      'params.proof: expected hex for a statement, got an object',
      { statement: STATEMENT, proof: {} },
    ],
    [
      'params.proof: expected hex of 1 to 126 times 192 bytes, got another string',
      { statement: STATEMENT, proof: 'ab'.repeat(191) },
    ],
    [
      'params.proof: expected hex of 1 to 126 times 192 bytes, got another string',
      { statement: STATEMENT, proof: 'ab'.repeat(127 * 192) },
    ],
    [
      'params.public: expected public inputs, or a statement, got nothing',
      { key: KEY.name, proof: OUTCOME.proof },
    ],
  ])('%s', async (message, params) => {
    const app = testApp();
    const { error } = await app.rpc('verify', params);
    expect(error).toMatchObject({ message, data: { code: 'ERR_PARAMS' } });
    expect(app.services.jobs.verified).toEqual([]);
  });
});
