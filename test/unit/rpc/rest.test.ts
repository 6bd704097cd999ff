import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ProverError } from '../../../src/core/errors.ts';
import { snarkjsText } from '../../../src/formats/snarkjs-json.ts';
import { KEY, OUTCOME } from '../../support/fake-service.ts';
import { type TestApp, testApp } from '../../support/rpc-app.ts';

const WITNESS = Buffer.from('wtns of a circuit');
const SHA256 = createHash('sha256').update(WITNESS).digest('hex');

function form(fields: Record<string, string | Blob>): FormData {
  const data = new FormData();
  for (const [name, value] of Object.entries(fields)) data.set(name, value);
  return data;
}
const witness = new Blob([WITNESS]);

async function postForm(app: TestApp, body: FormData): Promise<Response> {
  return app.request('/v1/prove', { method: 'POST', body });
}

async function completedJob(app: TestApp): Promise<string> {
  app.services.jobs.instant = true;
  const answer = await postForm(app, form({ key: KEY.name, witness }));
  return ((await answer.json()) as { job_id: string }).job_id;
}

async function errorOf(answer: Response): Promise<Record<string, unknown>> {
  return ((await answer.json()) as { error: Record<string, unknown> }).error;
}

describe('POST /v1/payloads', () => {
  const upload = (app: TestApp, body: Uint8Array, headers: Record<string, string> = {}) =>
    app.request('/v1/payloads', { method: 'POST', body, headers });

  it('stores the body and answers its digest', async () => {
    const app = testApp();
    const answer = await upload(app, WITNESS);
    expect(answer.status).toBe(201);
    expect(await answer.json()).toEqual({ sha256: SHA256, bytes: WITNESS.length });
    expect(app.services.payloads.has(SHA256)).toBe(true);
  });

  it('takes a body of the limit and refuses one byte more', async () => {
    const app = testApp({ uploadLimitBytes: 1000 });
    expect((await upload(app, Buffer.alloc(1000))).status).toBe(201);
    const answer = await upload(app, Buffer.alloc(1001));
    expect(answer.status).toBe(413);
    expect(await errorOf(answer)).toMatchObject({ code: 'ERR_TOO_LARGE', retry: 'never' });
  });

  it('refuses a length over the limit before reading', async () => {
    const app = testApp({ uploadLimitBytes: 1000 });
    let read = 0;
    app.services.payloads.onChunk = () => read++;
    const answer = await upload(app, WITNESS, { 'content-length': '1001' });
    expect(answer.status).toBe(413);
    expect(read).toBe(0);
  });

  it.each([
    ['a form', { 'content-type': 'multipart/form-data; boundary=x' }],
    ['a compressed body', { 'content-encoding': 'gzip' }],
  ])('refuses %s', async (_, headers) => {
    const app = testApp();
    expect((await upload(app, WITNESS, headers)).status).toBe(415);
    expect(app.services.payloads.has(SHA256)).toBe(false);
  });

  it('a failing disk is an internal error with a reference', async () => {
    const app = testApp();
    app.services.payloads.onChunk = () => {
      throw new Error('ENOSPC: /secret/path');
    };
    const answer = await upload(app, WITNESS);
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain('secret');
    expect(app.reported).toHaveLength(1);
  });
});

describe('POST /v1/prove', () => {
  it('takes a form, answers 202 and where the job is', async () => {
    const app = testApp();
    const answer = await postForm(app, form({ key: KEY.name, backend: 'cpu-reference', witness }));
    expect(answer.status).toBe(202);
    expect(answer.headers.get('location')).toBe('/v1/jobs/job-1');
    expect(await answer.json()).toMatchObject({ job_id: 'job-1', state: 'queued' });
    expect(app.services.jobs.submitted).toEqual([
      { request: { kind: 'circom', key: KEY.name, payload: SHA256, backend: 'cpu-reference' } },
    ]);
  });

  it.each([
    { witness, key: KEY.name, wait: 'true' },
    { wait: 'true', key: KEY.digest, witness },
  ])('takes fields in any order and waits: %#', async (fields) => {
    const app = testApp();
    app.services.jobs.instant = true;
    const answer = await postForm(app, form(fields));
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ state: 'completed', proof: OUTCOME.proof });
  });

  it('takes the parameters of the method as JSON', async () => {
    const app = testApp();
    const answer = await app.post('/v1/prove', {
      kind: 'circom',
      key: KEY.name,
      payload: { base64: WITNESS.toString('base64') },
    });
    expect(answer.status).toBe(202);
    expect(app.services.jobs.submitted[0]?.request).toMatchObject({ payload: SHA256 });
  });

  it.each<[message: string, fields: Record<string, string | Blob>]>([
    ['params.payload: expected a witness for circom, got nothing', { key: KEY.name }],
    ['witness: expected a file, got text', { key: KEY.name, witness: 'w.wtns' }],
    ['params.key: expected a name or SHA-256 for circom, got nothing', { witness }],
    [
      'params.key: expected a name or SHA-256 of a stored key, got another string',
      { key: '../k', witness },
    ],
    [
      'form: expected only the fields kind, key, miner, sector_number, partition, backend, priority, deadline, idempotency_key, strict, wait, witness, statement, vanilla, got another one',
      {
        key: KEY.name,
        path: '/etc/passwd',
        witness,
      },
    ],
    [
      'form: expected only the files witness, statement, vanilla, got another',
      { key: KEY.name, proof: witness },
    ],
    ['wait: expected true or false, got other text', { key: KEY.name, wait: '1', witness }],
    ['key: expected at most 4096 bytes, got more', { key: 'k'.repeat(4097), witness }],
  ])('%s', async (message, fields) => {
    const app = testApp();
    const answer = await postForm(app, form(fields));
    expect(answer.status).toBe(400);
    expect(await errorOf(answer)).toMatchObject({ code: 'ERR_PARAMS', message });
    expect(app.services.jobs.submitted).toEqual([]);
  });

  it.each([
    ['a field', 'key', 'a'],
    ['the file', 'witness', witness],
  ])('refuses %s that comes twice', async (_, name, value) => {
    const data = form({ key: KEY.name, witness });
    data.append(name, value);
    expect((await postForm(testApp(), data)).status).toBe(400);
  });

  const part = (headers: string, body: string) => `--x\r\n${headers}\r\n\r\n${body}\r\n`;
  const file = part('content-disposition: form-data; name="witness"; filename="w"', 'abc');
  const key = part('content-disposition: form-data; name="key"', KEY.name);
  it.each<[name: string, body: string, type?: string]>([
    ['no body', ''],
    ['no boundary in the header', `${file}${key}--x--\r\n`, 'multipart/form-data'],
    ['no closing boundary', `${key}${file}`],
    ['an end within the file', (key + file).slice(0, -4)],
    ['another boundary', `${file}${key}--x--\r\n`, 'multipart/form-data; boundary=y'],
    ['a malformed part header', `${file}--x\r\n\u0001bad\r\n\r\n\r\n--x--\r\n`],
    ['no names', `${part('content-disposition: form-data', 'abc')}--x--\r\n`],
  ])('refuses a form with %s, keeping nothing of it', async (_, body, type) => {
    const app = testApp();
    const answer = await app.request('/v1/prove', {
      method: 'POST',
      body,
      headers: { 'content-type': type ?? 'multipart/form-data; boundary=x' },
    });
    expect(answer.status).toBe(400);
    expect(app.reported).toEqual([]);
    expect(app.services.jobs.submitted).toEqual([]);
  });

  it('takes a file of the limit and refuses one byte more', async () => {
    const app = testApp({ uploadLimitBytes: 1000 });
    const send = (bytes: number) =>
      postForm(app, form({ key: KEY.name, witness: new Blob([Buffer.alloc(bytes)]) }));
    expect((await send(1000)).status).toBe(202);
    const answer = await send(1001);
    expect(answer.status).toBe(413);
    expect(app.services.payloads.failures).toHaveLength(1);
  });

  it('refuses a form whose other parts are too large', async () => {
    const app = testApp({ uploadLimitBytes: 1000 });
    const body = `${' '.repeat(70_000)}\r\n${key}${file}--x--\r\n`;
    const answer = await app.request('/v1/prove', {
      method: 'POST',
      body,
      headers: { 'content-type': 'multipart/form-data; boundary=x' },
    });
    expect(answer.status).toBe(413);
  });

  it.each(['text/plain', 'application/x-www-form-urlencoded', ''])('refuses %j', async (type) => {
    const answer = await testApp().request('/v1/prove', {
      method: 'POST',
      body: WITNESS,
      ...(type !== '' && { headers: { 'content-type': type } }),
    });
    expect(answer.status).toBe(415);
    expect(await errorOf(answer)).toMatchObject({ code: 'ERR_MEDIA_TYPE' });
  });
});

describe('jobs', () => {
  it('lists the newest hundred without their proofs', async () => {
    const app = testApp();
    app.services.jobs.instant = true;
    for (let i = 0; i < 101; i++) await completedJob(app);
    const { jobs } = (await (await app.get('/v1/jobs')).json()) as { jobs: { job_id: string }[] };
    expect(jobs).toHaveLength(100);
    expect(jobs[0]).toMatchObject({ job_id: 'job-101', state: 'completed', verified: true });
    expect(jobs[0]).not.toHaveProperty('proof');
    expect(jobs.at(-1)?.job_id).toBe('job-2');
  });

  it('answers one', async () => {
    const app = testApp();
    const id = await completedJob(app);
    expect(await (await app.get(`/v1/jobs/${id}`)).json()).toMatchObject({
      job_id: id,
      proof: OUTCOME.proof,
      timings: { total_ms: 10 },
    });
  });

  it("answers proof.json and public.json in the bytes of snarkjs's files", async () => {
    const app = testApp();
    const id = await completedJob(app);
    const proof = await app.get(`/v1/jobs/${id}/proof.json`);
    expect(proof.headers.get('content-type')).toBe('application/json');
    expect(await proof.text()).toBe(snarkjsText(OUTCOME.proof));
    expect(await (await app.get(`/v1/jobs/${id}/public.json`)).text()).toBe('[\n "33"\n]');
  });

  it('answers public.json of no inputs as snarkjs does', async () => {
    const app = testApp();
    await postForm(app, form({ key: KEY.name, witness }));
    app.services.jobs.complete('job-1', { ...OUTCOME, public: [] });
    expect(await (await app.get('/v1/jobs/job-1/public.json')).text()).toBe(snarkjsText([]));
  });

  it('answers 409 and when to retry while there is no proof', async () => {
    const app = testApp();
    await postForm(app, form({ key: KEY.name, witness }));
    const answer = await app.get('/v1/jobs/job-1/proof.json');
    expect(answer.status).toBe(409);
    expect(answer.headers.get('retry-after')).toBe('5');
    expect(await errorOf(answer)).toMatchObject({ code: 'ERR_JOB_STATE', retry: 'later' });
  });

  it('answers the timeline as JSON, and drawn for those who ask for text', async () => {
    const app = testApp();
    const id = await completedJob(app);
    for (const accept of [undefined, '*/*', 'application/json', 'text/plain, application/json']) {
      const answer = await app.get(`/v1/jobs/${id}/timeline`, accept ? { accept } : {});
      expect(await answer.json()).toMatchObject({ job_id: id, total_ms: 10 });
    }
    const answer = await app.get(`/v1/jobs/${id}/timeline`, { accept: 'text/plain' });
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(await answer.text()).toMatch(new RegExp(`^job ${id}  10\\.0 ms[^]*\nGPU +6\\.0`));
  });

  it('cancels', async () => {
    const app = testApp();
    await postForm(app, form({ key: KEY.name, witness }));
    const answer = await app.request('/v1/jobs/job-1/cancel', { method: 'POST' });
    expect(await answer.json()).toMatchObject({ state: 'cancelled' });
    expect(app.services.jobs.get('job-1').state).toBe('cancelled');
  });

  it.each(['', '/proof.json', '/public.json', '/timeline'])(
    '404 for an unknown job%s',
    async (p) => {
      const answer = await testApp().get(`/v1/jobs/nope${p}`);
      expect(answer.status).toBe(404);
      expect(await errorOf(answer)).toMatchObject({ code: 'ERR_JOB_UNKNOWN' });
    },
  );

  it('400 for what cannot be a job id', async () => {
    expect((await testApp().get('/v1/jobs/a%2F..%2Fb')).status).toBe(400);
  });
});

describe('keys, verify and documents', () => {
  it('GET /v1/keys', async () => {
    const body = (await (await testApp().get('/v1/keys')).json()) as { keys: object[] };
    expect(body.keys).toMatchObject([{ name: KEY.name, digest: KEY.digest }]);
    expect(JSON.stringify(body)).not.toContain(KEY.path);
  });

  it('POST /v1/verify: an invalid proof is a verdict, not an error', async () => {
    const app = testApp();
    app.services.jobs.verdict = { valid: false, reason: 'A is not in the group' };
    const answer = await app.post('/v1/verify', { key: 'k', proof: {}, public: ['1'] });
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ valid: false, reason: 'A is not in the group' });
  });

  it('POST /v1/verify: what is not JSON', async () => {
    const answer = await testApp().post('/v1/verify', '{');
    expect(answer.status).toBe(400);
    expect(await errorOf(answer)).toMatchObject({ message: 'body: expected JSON, got other text' });
  });
});

describe('errors', () => {
  it('a full queue is 429 with its own time to retry', async () => {
    const app = testApp();
    app.services.jobs.refusal = new ProverError('ERR_QUEUE_FULL', {
      limit: 3,
      retryAfterSeconds: 17,
    });
    const answer = await postForm(app, form({ key: KEY.name, witness }));
    expect(answer.status).toBe(429);
    expect(answer.headers.get('retry-after')).toBe('17');
    expect(await errorOf(answer)).toEqual({
      code: 'ERR_QUEUE_FULL',
      message: 'queue: expected fewer than 3 waiting jobs, got 3; retry after 17 s',
      retry: 'later',
      data: { limit: 3, retry_after_seconds: 17 },
    });
  });

  it('an error that no retry mends has no Retry-After', async () => {
    const answer = await testApp().get('/v1/jobs/nope');
    expect(answer.headers.has('retry-after')).toBe(false);
  });

  it.each(['/', '/nope', '/v1', '/v1/jobs/', '/v1/jobs/a/b', '/rpc/', '/openapiXjson'])(
    '404 for %s',
    async (path) => {
      const answer = await testApp().get(path);
      expect(answer.status).toBe(404);
      expect(await errorOf(answer)).toMatchObject({ code: 'ERR_ROUTE_UNKNOWN' });
    },
  );

  it.each([
    ['GET', '/rpc', 'POST'],
    ['GET', '/v1/prove', 'POST'],
    ['DELETE', '/v1/jobs/job-1', 'GET'],
    ['OPTIONS', '/v1/prove', 'POST'],
    ['PUT', '/status', 'GET'],
  ])('405 for %s %s', async (method, path, allow) => {
    const answer = await testApp().request(path, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe(allow);
  });
});

describe('POST /rpc over HTTP', () => {
  const call = { jsonrpc: '2.0', id: 1, method: 'keys' };

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"',
  ])('takes %s', async (type) => {
    const answer = await testApp().post('/rpc', call, { 'content-type': type });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('application/json');
  });

  it.each([
    'text/plain',
    'text/plain;application/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'application/json; charset=utf-16',
    'x; application/json',
    '',
  ])('refuses %j, running nothing', async (type) => {
    const app = testApp();
    const prove = { ...call, method: 'prove', params: { kind: 'circom', key: KEY.name } };
    const answer = await app.post('/rpc', prove, { 'content-type': type });
    expect(answer.status).toBe(415);
    expect(await answer.json()).toMatchObject({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32009 },
    });
    expect(app.services.jobs.submitted).toEqual([]);
  });

  it('answers notifications with 204 and no body', async () => {
    for (const body of [{ jsonrpc: '2.0', method: 'keys' }, [{ jsonrpc: '2.0', method: 'nope' }]]) {
      const answer = await testApp().post('/rpc', body);
      expect(answer.status).toBe(204);
      expect(await answer.text()).toBe('');
      expect(answer.headers.has('content-type')).toBe(false);
    }
  });

  it('answers errors with 200, parse errors too', async () => {
    const answer = await testApp().post('/rpc', '{');
    expect(answer.status).toBe(200);
    expect(await answer.json()).toMatchObject({ id: null, error: { code: -32700 } });
  });

  it('takes 2 MiB and refuses one byte more', async () => {
    const app = testApp();
    const padded = (bytes: number) => JSON.stringify(call).padEnd(bytes, ' ');
    expect((await app.post('/rpc', padded(2 * 1024 * 1024))).status).toBe(200);
    const answer = await app.post('/rpc', padded(2 * 1024 * 1024 + 1));
    expect(answer.status).toBe(413);
    expect(await answer.json()).toMatchObject({
      jsonrpc: '2.0',
      id: null,
      error: { code: -32005, data: { code: 'ERR_TOO_LARGE', retry: 'never' } },
    });
  });
});
