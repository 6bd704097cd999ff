import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ProverError } from '../../../../src/core/errors.ts';
import { firstPhase, sha256 } from '../../../support/lotus.ts';
import { type LotusApp, lotusApp } from '../../../support/lotus-app.ts';

const SHARED = lotusApp();
let app: LotusApp = SHARED;

afterEach(() => {
  app = SHARED;
});

const C1 = firstPhase().toString('base64');
const SECTOR = { ID: { Miner: 1000, Number: 9 }, ProofType: 5 };

/** Status and text of what is answered. */
async function answer(body: string, init: RequestInit = {}): Promise<[number, string]> {
  const response = await app.request('/rpc/v0', { method: 'POST', body, ...init });
  return [response.status, await response.text()];
}

const call = (method: string, params: unknown = [], id: unknown = 1) =>
  JSON.stringify({ jsonrpc: '2.0', id, method: `Filecoin.${method}`, params });

const error = (code: number, message: string, id: unknown = 1) =>
  `${JSON.stringify({ error: { code, message }, id, jsonrpc: '2.0' })}\n`;
const result = (value: unknown, id: unknown = 1) =>
  `${JSON.stringify({ id, jsonrpc: '2.0', result: value })}\n`;

describe('the envelope of go-jsonrpc', () => {
  it('answers sorted, on one line, as JSON', async () => {
    const response = await app.request('/rpc/v0', { method: 'POST', body: call('Version') });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(await response.text()).toBe('{"id":1,"jsonrpc":"2.0","result":67328}\n');
  });

  // rpc.md 1.2: what a request may be.
  const accepted: [string, string, string][] = [
    ['without jsonrpc', '{"id":1,"method":"Filecoin.Version","params":[]}', result(67328)],
    ['of another jsonrpc', '{"jsonrpc":"9","id":1,"method":"Filecoin.Version"}', result(67328)],
    ['of id 0', call('Version', [], 0), result(67328, 0)],
    [
      'of a text as id',
      call('Version', [], 'a<b'),
      '{"id":"a\\u003cb","jsonrpc":"2.0","result":67328}\n',
    ],
    ['of a fraction as id', call('Version', [], 1.5), result(67328, 1.5)],
    ['with params null', call('Version', null), result(67328)],
    ['without params', '{"id":1,"method":"Filecoin.Version"}', result(67328)],
    [
      'with meta',
      '{"id":1,"method":"Filecoin.Version","meta":{"SpanContext":"AA=="}}',
      result(67328),
    ],
    ['with other names', '{"id":1,"method":"Filecoin.Version","x":[{}]}', result(67328)],
    ['with names in other case', '{"ID":1,"Method":"Filecoin.Version"}', result(67328)],
    ['with spaces around', ` \r\n\t${call('Version')}  `, result(67328)],
    ['of a method without a value', call('StorageDetachAll'), result(null)],
  ];
  it.each(accepted)('takes a request %s', async (_, body, text) => {
    expect(await answer(body)).toEqual([200, text]);
  });

  it.each(['GET', 'PUT', 'DELETE'])('does not look at the verb: %s', async (method) => {
    const body = method === 'GET' ? undefined : call('Version');
    const response = await app.request('/rpc/v0', { method, ...(body && { body }) });
    expect(response.status).toBe(body === undefined ? 400 : 200);
  });

  it.each(['text/plain;charset=UTF-8', 'application/x-www-form-urlencoded', ''])(
    'does not look at the media type: %s',
    async (type) => {
      expect((await answer(call('Version'), { headers: { 'content-type': type } }))[0]).toBe(200);
    },
  );

  // rpc.md 1.3, the table of statuses, and the codes of 1.4.
  const refused: [string, string, number, string][] = [
    ['an unknown method', call('Nope'), 500, error(-32601, "method 'Filecoin.Nope' not found")],
    [
      'rpc.discover, which workers lack',
      '{"id":1,"method":"rpc.discover"}',
      500,
      error(-32601, "method 'rpc.discover' not found"),
    ],
    [
      'too few params',
      call('SealCommit2'),
      500,
      error(-32602, "wrong param count (method 'Filecoin.SealCommit2'): 0 != 2"),
    ],
    [
      'too many params',
      call('Version', [1]),
      500,
      error(-32602, "wrong param count (method 'Filecoin.Version'): 1 != 0"),
    ],
    [
      'params null where there are two',
      call('SealCommit2', null),
      500,
      error(-32602, "wrong param count (method 'Filecoin.SealCommit2'): 0 != 2"),
    ],
    [
      'base64 that is none',
      call('SealCommit2', [SECTOR, 'AAAA!']),
      500,
      error(
        -32700,
        "unmarshaling params for 'Filecoin.SealCommit2' (param: *storiface.Commit1Out): illegal base64 data at input byte 4",
      ),
    ],
    [
      'a long text that is no base64',
      call('SealCommit2', [SECTOR, '!'.repeat(50_000)]),
      500,
      error(
        -32700,
        "unmarshaling params for 'Filecoin.SealCommit2' (param: *storiface.Commit1Out): illegal base64 data at input byte 0",
      ),
    ],
    [
      'a number for bytes',
      call('SealCommit2', [SECTOR, 5]),
      500,
      error(
        -32700,
        "unmarshaling params for 'Filecoin.SealCommit2' (param: *storiface.Commit1Out): json: cannot unmarshal number 5 into Go value of type storiface.Commit1Out",
      ),
    ],
    [
      'a text for a sector',
      call('SealCommit2', ['nine', C1]),
      500,
      error(
        -32700,
        "unmarshaling params for 'Filecoin.SealCommit2' (param: *storiface.SectorRef): json: cannot unmarshal string into Go value of type storiface.SectorRef",
      ),
    ],
    [
      'a negative sector',
      call('FinalizeSector', [{ ID: { Miner: 1, Number: -1 } }]),
      500,
      error(
        -32700,
        "unmarshaling params for 'Filecoin.FinalizeSector' (param: *storiface.SectorRef): json: cannot unmarshal number -1 into Go value of type abi.SectorNumber",
      ),
    ],
    [
      'a list that is too long',
      call('ReleaseUnsealed', [SECTOR, Array(4097).fill(0)]),
      500,
      error(
        -32700,
        "unmarshaling params for 'Filecoin.ReleaseUnsealed' (param: *[]storiface.Range): []storiface.Range: expected at most 4096 items, got 4097",
      ),
    ],
    [
      'params by name',
      call('Version', {}),
      500,
      error(
        -32700,
        'unmarshaling param array: json: cannot unmarshal object into Go value of type []jsonrpc.param',
      ),
    ],
    ['no JSON', '{', 500, error(-32700, 'Parse error', null)],
    ['bytes that are no UTF-8', '"\xff', 500, error(-32700, 'Parse error', null)],
    ['a number', '5', 500, error(-32700, 'Parse error', null)],
    ['null', 'null', 500, error(-32700, 'Parse error', null)],
    ['a number as method', '{"id":1,"method":5}', 500, error(-32700, 'Parse error', null)],
    [
      'meta that is no map of texts',
      '{"id":1,"method":"x","meta":{"a":1}}',
      500,
      error(-32700, 'Parse error', null),
    ],
    [
      'an object as id',
      call('Version', [], {}),
      500,
      error(-32700, 'failed to parse ID: invalid id type: object', null),
    ],
    [
      'an array as id',
      call('Version', [], []),
      500,
      error(-32700, 'failed to parse ID: invalid id type: array', null),
    ],
    [
      'a bool as id',
      call('Version', [], true),
      500,
      error(-32700, 'failed to parse ID: invalid id type: boolean', null),
    ],
    ['an empty body', '', 400, error(-32600, 'Invalid request', null)],
    ['spaces', '  ', 400, error(-32600, 'Invalid request', null)],
    ['an empty batch', '[]', 400, error(-32600, 'Invalid request', null)],
    [
      'too long a batch',
      `[${Array(101).fill(call('Version')).join()}]`,
      400,
      error(-32600, 'Invalid request', null),
    ],
    [
      "a method's error",
      call('TaskDisable', ['seal/v0/fetch']),
      200,
      error(1, 'task seal/v0/fetch is not one of this worker'),
    ],
    [
      'what a prover does not do',
      call('FinalizeSector', [SECTOR]),
      200,
      error(1, 'method not supported'),
    ],
  ];
  it.each(refused)('refuses %s', async (_, body, status, text) => {
    expect(await answer(body)).toEqual([status, text]);
  });

  it('refuses a body over the limit, by its length or once it is', async () => {
    const text = error(-32700, 'request bigger than maximum 268435456 allowed', null);
    const headers = { 'content-length': String(2 ** 28 + 1) };
    expect(await answer(call('Version'), { headers })).toEqual([500, text]);
    const json = `[${'1,'.repeat(2 ** 20)}1]`;
    expect(await answer(json)).toEqual([500, text.replace('268435456', '2097152')]);
  });

  it('tells of a fault of its own without its text', async () => {
    app = lotusApp();
    app.jobs.hosts = () => {
      throw new Error('secret path');
    };
    const [status, text] = await answer(call('Info'));
    expect(status).toBe(500);
    expect(JSON.parse(text).error).toEqual({
      code: 0,
      message: expect.stringMatching(
        /^fatal error calling 'Filecoin.Info': panic in rpc method: internal error: see \S+ in the log$/,
      ),
    });
    expect(app.reported).toHaveLength(1);
  });

  it('answers notifications with nothing', async () => {
    expect(await answer(call('Version', [], null))).toEqual([200, '']);
    expect(await answer('{"method":"Filecoin.StorageDetachAll"}')).toEqual([200, '']);
    expect(await answer(call('FinalizeSector', [SECTOR], null))).toEqual([200, '']);
    const text = error(-32601, "method 'Filecoin.Nope' not found", null);
    expect(await answer(call('Nope', [], null))).toEqual([500, text]);
  });

  it('runs a batch one after another, always with status 200', async () => {
    const [status, text] = await answer(
      `[${call('Version', [], 7)}, ${call('Version', [], null)}, ${call('Nope', [], 'n')}]`,
    );
    const missing = error(-32601, "method 'Filecoin.Nope' not found", 'n');
    expect([status, text]).toEqual([200, `[${result(67328, 7)},${missing}]`]);
    expect(await answer(`[${call('Version', [], 7)}]`)).toEqual([200, `[${result(67328, 7)}]`]);
    expect(await answer(`[${call('Version', [], null)}]`)).toEqual([200, '[]']);
    expect(await answer('[1]')).toEqual([200, `[${error(-32700, 'Parse error', null)}]`]);
  });

  it('escapes what would end a script', async () => {
    const [, text] = await answer(call('</script>&\u2028'));
    expect(text).toContain('Filecoin.\\u003c/script\\u003e\\u0026\\u2028');
  });

  describe('with a miner', () => {
    let headers: Record<string, string>;

    beforeEach(async () => {
      app = lotusApp({ miner: { url: 'http://127.0.0.1:1' } });
      const { token } = await app.tokens.create('miner', 'admin');
      headers = { authorization: `Bearer ${token}` };
    });

    it.each([null, ''])('takes %j for no bytes', async (c1) => {
      const [status, text] = await answer(call('SealCommit2', [SECTOR, c1]), { headers });
      const message = "C1: expected the JSON of PoRep's first phase, got other bytes";
      expect([status, text]).toEqual([200, error(1, message)]);
    });

    it.each([2000, 300_000])('takes a first phase of %d bytes', async (bytes) => {
      const c1 = firstPhase(bytes);
      const params = [SECTOR, c1.toString('base64')];
      const [status, text] = await answer(call('SealCommit2', params), { headers });
      const { Sector, ID } = JSON.parse(text).result;
      expect([status, Sector]).toEqual([200, SECTOR.ID]);
      expect(ID).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      expect(app.payloads.has(sha256(c1))).toBe(true);
    });

    it('tells the caller of a full disk, and goes on', async () => {
      app.payloads.refusal = new ProverError('ERR_STORAGE', {
        ...{ subject: 'payloads', action: 'write', reason: 'no space left on the device' },
      });
      const batch = `[${call('SealCommit2', [SECTOR, C1.repeat(10)], 1)},${call('Version', [], 2)}]`;
      const [status, text] = await answer(batch, { headers });
      const full = error(1, 'payloads: cannot write: no space left on the device');
      expect([status, text]).toEqual([200, `[${full},${result(67328, 2)}]`]);
    });

    it.each([15, 18, 19, 20, 2 ** 40])('refuses seal proofs of type %d', async (ProofType) => {
      const params = [{ ...SECTOR, ProofType }, C1];
      const [status, text] = await answer(call('SealCommit2', params), { headers });
      expect(status).toBe(200);
      expect(JSON.parse(text).error).toEqual({
        code: 1,
        message: expect.stringMatching(/^ProofType: expected a seal proof that is not aggregated/),
      });
      expect(app.jobs.all).toEqual([]);
    });
  });

  it('refuses to prove what could not be returned', async () => {
    const message = 'worker: expected a miner to return results to (PROOFLINE_MINER_API), got none';
    expect(await answer(call('SealCommit2', [SECTOR, C1]))).toEqual([200, error(1, message)]);
    expect(app.payloads.bytes.size).toBe(0);
  });
});

describe('paths', () => {
  it.each([
    '/rpc/v0',
    '/rpc/v1',
    '/worker/seal/rpc/v0',
    '/worker/seal/rpc/v1',
    '/worker/wdpost/rpc/v0',
    '/worker/winpost/rpc/v0',
  ])('%s answers', async (path) => {
    const response = await app.request(path, { method: 'POST', body: call('Version') });
    expect(await response.text()).toBe(result(67328));
  });

  it('of roles that are not served are unknown', async () => {
    const sealOnly = lotusApp({ roles: ['seal'] });
    const path = '/worker/wdpost/rpc/v0';
    const response = await sealOnly.request(path, { method: 'POST', body: call('Version') });
    expect(response.status).toBe(404);
  });
});
