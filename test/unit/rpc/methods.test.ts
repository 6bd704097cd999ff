import { describe, expect, it } from 'vitest';
import { ERRORS, ProverError } from '../../../src/core/errors.ts';
import { METHODS } from '../../../src/rpc/methods.ts';
import { INLINE_PAYLOAD_BYTES_MAX } from '../../../src/rpc/schemas.ts';
import { KEY, OUTCOME } from '../../support/fake-service.ts';
import { testApp, until } from '../../support/rpc-app.ts';

const WITNESS = Buffer.from('wtns of a circuit');
const prove = { kind: 'circom', key: KEY.name, payload: { base64: WITNESS.toString('base64') } };

/** The result of a call, which also has the form that its schema says. */
async function result(app: ReturnType<typeof testApp>, method: string, params?: unknown) {
  const answer = await app.rpc(method, params);
  expect(answer.error).toBeUndefined();
  expect(METHODS[method]?.result.parse(answer.result)).toEqual(answer.result);
  return answer.result;
}

async function error(app: ReturnType<typeof testApp>, method: string, params?: unknown) {
  return (await app.rpc(method, params)).error;
}

async function completedJob(app: ReturnType<typeof testApp>): Promise<string> {
  app.services.jobs.instant = true;
  return (await result(app, 'prove', prove)).job_id;
}

describe('prove', () => {
  it('answers the job at once', async () => {
    const app = testApp();
    expect(await result(app, 'prove', prove)).toEqual({
      job_id: 'job-1',
      kind: 'circom',
      state: 'queued',
      progress: 0,
      key: 'multiplier',
      submitted_at: '2023-11-14T22:13:20.000Z',
      trace_id: '0af7651916cd43dd8448eb211c80319c',
    });
  });

  it('answers the result with wait', async () => {
    const app = testApp();
    app.services.jobs.instant = true;
    expect(await result(app, 'prove', { ...prove, wait: true })).toEqual({
      job_id: 'job-1',
      kind: 'circom',
      state: 'completed',
      progress: 1,
      key: 'multiplier',
      submitted_at: '2023-11-14T22:13:20.000Z',
      started_at: '2023-11-14T22:13:20.001Z',
      ended_at: '2023-11-14T22:13:20.010Z',
      trace_id: '0af7651916cd43dd8448eb211c80319c',
      key_digest: KEY.digest,
      backend: 'cpu-reference',
      device: '0',
      attempts: 1,
      verified: true,
      proof: OUTCOME.proof,
      public: ['33'],
      timings: { total_ms: 10, queue_ms: 1, synth_ms: 2, gpu_ms: 6, verify_ms: 1 },
    });
  });

  it('waits for a job that ends later', async () => {
    const app = testApp();
    const waiting = result(app, 'prove', { ...prove, wait: true });
    await until(() => app.services.jobs.waiting === 1);
    app.services.jobs.complete('job-1', { ...OUTCOME, fallbackReason: 'cuda: out of memory' });
    expect(await waiting).toMatchObject({
      state: 'completed',
      fallback_reason: 'cuda: out of memory',
    });
  });

  it('passes on what was asked for, and where the trace comes from', async () => {
    const app = testApp();
    const { sha256 } = await app.services.payloads.put(chunks(WITNESS), 100);
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
    const params = { ...prove, payload: { sha256 }, backend: 'cpu-reference' };
    await app.post('/rpc', { jsonrpc: '2.0', id: 1, method: 'prove', params }, { traceparent });
    expect(app.services.jobs.submitted).toEqual([
      {
        request: { kind: 'circom', key: KEY.name, payload: sha256, backend: 'cpu-reference' },
        traceparent,
      },
    ]);
  });

  it('a failed job that was waited for answers its own error', async () => {
    const app = testApp();
    const waiting = error(app, 'prove', { ...prove, wait: true });
    await until(() => app.services.jobs.waiting === 1);
    app.services.jobs.fail('job-1', { code: 'ERR_WITNESS_UNSATISFIED', data: { detail: 'twice' } });
    expect(await waiting).toMatchObject({
      code: ERRORS.ERR_WITNESS_UNSATISFIED.rpc,
      data: { code: 'ERR_WITNESS_UNSATISFIED', retry: 'never', job_id: 'job-1' },
    });
  });

  it.each([
    ['ERR_KEY_UNKNOWN', { ...prove, key: 'other' }],
    ['ERR_PAYLOAD_UNKNOWN', { ...prove, payload: { sha256: '0'.repeat(64) } }],
  ] as const)('%s', async (code, params) => {
    expect(await error(testApp(), 'prove', params)).toMatchObject({
      code: ERRORS[code].rpc,
      data: { code },
    });
  });

  it('a refusal says when to come back', async () => {
    const app = testApp();
    app.services.jobs.refusal = new ProverError('ERR_QUEUE_FULL', {
      limit: 2,
      retryAfterSeconds: 9,
    });
    expect(await error(app, 'prove', prove)).toMatchObject({
      code: -32031,
      data: { retry: 'later', retry_after_seconds: 9 },
    });
  });

  it('what nobody expected is reported, and told to the client by reference only', async () => {
    const app = testApp();
    const thrown = new Error('EACCES: /secret/path');
    app.services.jobs.refusal = thrown;
    const answer = await error(app, 'prove', prove);
    expect(app.reported).toEqual([{ error: thrown, reference: expect.any(String) }]);
    expect(answer).toEqual({
      code: -32603,
      message: `internal error: see ${app.reported[0]?.reference} in the log`,
      data: expect.objectContaining({ code: 'ERR_INTERNAL', retry: 'never' }),
    });
    expect(JSON.stringify(answer)).not.toContain('secret');
  });

  it('takes 1 MiB inside the request and refuses one byte more', async () => {
    const app = testApp();
    const params = (bytes: number) => ({
      ...prove,
      payload: { base64: Buffer.alloc(bytes, 7).toString('base64') },
    });
    await result(app, 'prove', params(INLINE_PAYLOAD_BYTES_MAX));
    expect(await error(app, 'prove', params(INLINE_PAYLOAD_BYTES_MAX + 1))).toMatchObject({
      code: ERRORS.ERR_TOO_LARGE.rpc,
    });
    expect(await error(app, 'prove', params(INLINE_PAYLOAD_BYTES_MAX + 3))).toMatchObject({
      code: -32602,
      message: 'params.payload.base64: expected at most 1 MiB once decoded, got another string',
    });
  });
});

describe('parameters', () => {
  const secret = 'c2VjcmV0LXdpdG5lc3M';
  it.each<[message: string, method: string, params: unknown]>([
    ['params: expected object, got an array', 'prove', [prove]],
    ['params: expected object, got an array', 'status', ['job-1']],
    [
      'params.kind: expected one of circom, porep, window-post, winning-post, snap-deals, got nothing',
      'prove',
      { ...prove, kind: undefined },
    ],
    [
      'params.kind: expected one of circom, porep, window-post, winning-post, snap-deals, got another string',
      'prove',
      { ...prove, kind: 'c1' },
    ],
    [
      'params.key: expected a name or SHA-256 for circom, got nothing',
      'prove',
      { ...prove, key: undefined },
    ],
    ['params.key: expected string, got another number', 'prove', { ...prove, key: 5 }],
    ...['../../etc/passwd', 'a/b', '', '.hidden', '-rf', 'a b', 'k'.repeat(129), 'a\u0000'].map(
      (key): [string, string, unknown] => [
        'params.key: expected a name or SHA-256 of a stored key, got another string',
        'prove',
        { ...prove, key },
      ],
    ),
    [
      'params: expected only the fields kind, key, payload, statement, miner, sector_number, vanilla, partition, backend, priority, deadline, strict, idempotency_key, wait, got path',
      'prove',
      { ...prove, path: '/etc/passwd' },
    ],
    [
      'params: expected only the fields kind, key, payload, statement, miner, sector_number, vanilla, partition, backend, priority, deadline, strict, idempotency_key, wait, got __proto__',
      'prove',
      JSON.parse(`{"__proto__":{"wait":true},${JSON.stringify(prove).slice(1)}`),
    ],
    [
      'params.backend: expected one of "cuda"|"cpu"|"cpu-reference"|"webgpu", got another string',
      'prove',
      { ...prove, backend: secret },
    ],
    ['params.wait: expected boolean, got another string', 'prove', { ...prove, wait: 'true' }],
    ...[{}, { sha256: 5 }, null, secret, { sha256: '0'.repeat(64), base64: '' }].map(
      (payload): [string, string, unknown] => [
        `params.payload: expected either {sha256} or {base64}, got ${
          payload === null ? 'null' : typeof payload === 'object' ? 'an object' : 'another string'
        }`,
        'prove',
        { ...prove, payload },
      ],
    ),
    [
      'params.payload.sha256: expected 64 lower-case hex digits, got another string',
      'prove',
      { ...prove, payload: { sha256: `../${'0'.repeat(61)}` } },
    ],
    ...[`${secret}!`, `${secret}-_`, 'abc', ' AAAA', 'AAAA\n'].map(
      (base64): [string, string, unknown] => [
        'params.payload.base64: expected standard base64 with padding, got another string',
        'prove',
        { ...prove, payload: { base64 } },
      ],
    ),
    ['params.job_id: expected string, got nothing', 'result', {}],
    ['params.job_id: expected a job id, got another string', 'cancel', { job_id: '../x' }],
    ['params: expected only the fields none, got verbose', 'keys', { verbose: true }],
    [
      'params: expected exactly one of key and verification_key, got neither',
      'verify',
      { proof: {}, public: [] },
    ],
    [
      'params: expected exactly one of key and verification_key, got both',
      'verify',
      { key: 'k', verification_key: {}, proof: {}, public: [] },
    ],
    [
      'params.proof: expected hex of 1 to 126 times 192 bytes, got another string',
      'verify',
      { key: 'k', proof: secret, public: [] },
    ],
    [
      'params.public: expected at most 65536 strings, got an array',
      'verify',
      { key: 'k', proof: {}, public: ['1', 2] },
    ],
  ])('%s', async (message, method, params) => {
    const app = testApp();
    const answer = await error(app, method, params);
    expect(answer).toMatchObject({ code: -32602, message, data: { code: 'ERR_PARAMS' } });
    expect(JSON.stringify(answer)).not.toContain(secret);
    expect(app.services.jobs.submitted).toEqual([]);
  });
});

describe('status, result, cancel, timeline', () => {
  it.each(['status', 'result', 'cancel', 'timeline'])('%s of an unknown job', async (method) => {
    expect(await error(testApp(), method, { job_id: 'nope' })).toMatchObject({
      code: ERRORS.ERR_JOB_UNKNOWN.rpc,
      data: { code: 'ERR_JOB_UNKNOWN', job_id: 'nope' },
    });
  });

  it('status tells the service without a job, and else the job', async () => {
    const app = testApp();
    expect(await result(app, 'status')).toMatchObject({ version: '1.2.3', ready: true });
    const job_id = await completedJob(app);
    expect(await result(app, 'status', { job_id })).toMatchObject({
      state: 'completed',
      proof: OUTCOME.proof,
    });
  });

  it('status of a failed job holds its error; an internal one keeps its text', async () => {
    const app = testApp();
    await result(app, 'prove', prove);
    app.services.jobs.fail('job-1', { code: 'ERR_INTERNAL', data: { reason: '/secret/path' } });
    const view = await result(app, 'status', { job_id: 'job-1' });
    expect(view).toMatchObject({
      state: 'failed',
      error: {
        code: 'ERR_INTERNAL',
        retry: 'never',
        message: 'internal error: see job job-1 in the log',
      },
    });
    expect(JSON.stringify(view)).not.toContain('secret');
  });

  it('result: of a completed job, and the reason why not of any other', async () => {
    const app = testApp();
    await result(app, 'prove', prove);
    expect(await error(app, 'result', { job_id: 'job-1' })).toMatchObject({
      code: ERRORS.ERR_JOB_STATE.rpc,
      message: 'job job-1: expected a completed job, got queued',
      data: { retry: 'later' },
    });
    app.services.jobs.fail('job-1', {
      code: 'ERR_FORMAT',
      data: { subject: 'w', expected: 'x', actual: 'y' },
    });
    expect(await error(app, 'result', { job_id: 'job-1' })).toMatchObject({
      code: ERRORS.ERR_FORMAT.rpc,
      message: 'w: expected x, got y',
    });
    const job_id = await completedJob(app);
    expect(await result(app, 'result', { job_id })).toMatchObject({ verified: true });
  });

  it('cancel ends a job, whose result then is that it was cancelled', async () => {
    const app = testApp();
    await result(app, 'prove', prove);
    expect(await result(app, 'cancel', { job_id: 'job-1' })).toMatchObject({ state: 'cancelled' });
    expect(await error(app, 'result', { job_id: 'job-1' })).toMatchObject({
      code: ERRORS.ERR_CANCELLED.rpc,
    });
  });

  it('cancel leaves a completed job as it is', async () => {
    const app = testApp();
    const job_id = await completedJob(app);
    expect(await result(app, 'cancel', { job_id })).toMatchObject({ state: 'completed' });
  });

  it('timeline has stages and lines', async () => {
    const app = testApp();
    const job_id = await completedJob(app);
    const { stages, lines, ...whole } = await result(app, 'timeline', { job_id });
    expect(whole).toEqual({
      job_id,
      started_at: '2023-11-14T22:13:20.000Z',
      total_ms: 10,
      running: false,
    });
    expect(stages).toHaveLength(5);
    expect(stages[3]).toEqual({
      stage: 'GPU',
      lane: 'device',
      depth: 1,
      parent: 0,
      start_ms: 3,
      end_ms: 9,
      ms: 6,
      share: 0.6,
    });
    expect(lines).toHaveLength(12);
    expect(lines[0]).toBe(`TIMELINE,0,JOB_START,${job_id},kind=circom`);
    expect(lines[8]).toBe(`TIMELINE,9,GPU_END,${job_id},worker=0,gpu_ms=6`);
  });
});

describe('verify, keys, rpc.discover', () => {
  it('verify passes on either kind of key and answers the verdict', async () => {
    const app = testApp();
    const proof = { pi_a: ['1'] };
    expect(await result(app, 'verify', { key: 'k', proof, public: ['1'] })).toEqual({
      valid: true,
    });
    app.services.jobs.verdict = { valid: false, reason: 'pairing equation does not hold' };
    const verification_key = { protocol: 'groth16' };
    expect(await result(app, 'verify', { verification_key, proof, public: [] })).toEqual({
      valid: false,
      reason: 'pairing equation does not hold',
    });
    expect(app.services.jobs.verified).toEqual([
      { key: 'k', proof, public: ['1'] },
      { verificationKey: verification_key, proof, public: [] },
    ]);
  });

  it('nesting is taken to eight levels, and refused beyond whatever its depth', async () => {
    const app = testApp();
    const sent = (levels: number) =>
      `{"jsonrpc":"2.0","id":1,"method":"verify","params":{"key":"k","public":[],"proof":${'{"a":'.repeat(
        levels,
      )}1${'}'.repeat(levels)}}}`;
    expect(await (await app.post('/rpc', sent(8))).json()).toMatchObject({ result: {} });
    const widest = sent(1).replace('1}', `[${'[],'.repeat(19_999)}[]]}`);
    expect(await (await app.post('/rpc', widest)).json()).toMatchObject({ result: {} });
    const wide = sent(1).replace('1}', `[${'[],'.repeat(20_000)}[]]}`);
    for (const body of [sent(9), sent(30), wide]) {
      expect(await (await app.post('/rpc', body)).json()).toMatchObject({
        error: {
          message: 'params.proof: expected at most 8 levels of at most 20000 arrays, got an object',
        },
      });
    }
  });

  it('a flood of public inputs that are none is refused as one', async () => {
    const numbers = `{"key":"k","proof":{},"public":[${'1,'.repeat(99_000)}1]}`;
    const before = process.cpuUsage();
    const answer = await testApp().post('/v1/verify', numbers);
    const { user, system } = process.cpuUsage(before);
    expect(answer.status).toBe(400);
    expect((user + system) / 1000).toBeLessThan(500);
  });

  it('keys tells everything but where the file lies', async () => {
    const answer = await result(testApp(), 'keys');
    expect(answer.keys).toEqual([
      {
        group_checked: true,
        name: 'multiplier',
        digest: KEY.digest,
        format: 'zkey',
        curve: 'bn254',
        bytes: 4096,
        public_count: 1,
        log_n: 4,
        insecure: 'made by setup',
      },
    ]);
  });

  it('rpc.discover answers the document that /openrpc.json serves', async () => {
    const app = testApp();
    const document = await (await app.get('/openrpc.json')).json();
    expect(await result(app, 'rpc.discover')).toEqual(document);
  });
});

async function* chunks(...parts: Uint8Array[]) {
  yield* parts;
}
