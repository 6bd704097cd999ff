import { SignJWT } from 'jose';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { LotusAccess, parseSecret } from '../../../../src/rpc/lotus/auth.ts';
import { FakeMiner, firstPhase } from '../../../support/lotus.ts';
import { type LotusApp, lotusApp } from '../../../support/lotus-app.ts';

const ALL = ['read', 'write', 'sign', 'admin'];
const SECRET = new Uint8Array(32).fill(1);
/** rpc.md 1.8: of that secret, all four permissions. */
const RECORDED =
  'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJBbGxvdyI6WyJyZWFkIiwid3JpdGUiLCJzaWduIiwiYWRtaW4iXX0.vI1ko7KTF_3oGzlAk2LM5YoRxk6fQE1AeqTm2H8-0dU';
const NO_TOKENS = { find: () => undefined, isOpen: () => true } as never;

const sign = (payload: Record<string, unknown>, secret = SECRET, alg = 'HS256') =>
  new SignJWT(payload).setProtectedHeader({ alg, typ: 'JWT' }).sign(secret);

describe('permissions', () => {
  it('of the recorded token are all four', async () => {
    const access = new LotusAccess({ tokens: NO_TOKENS, secret: SECRET });
    expect(await access.permissions(`Bearer ${RECORDED}`, undefined)).toEqual(ALL);
    expect(await access.permissions(undefined, RECORDED)).toEqual(ALL);
  });

  it('are those of the signed token, no more', async () => {
    const access = new LotusAccess({ tokens: NO_TOKENS, secret: SECRET });
    const token = await sign({ Allow: ['read'] });
    expect(await access.permissions(`Bearer ${token}`, undefined)).toEqual(['read']);
  });

  const unsigned = `${Buffer.from('{"alg":"none"}').toString('base64url')}.${RECORDED.split('.')[1]}.`;
  it.each([
    ['another secret', () => sign({ Allow: ALL }, new Uint8Array(32).fill(2))],
    ['another hash', () => sign({ Allow: ALL }, new Uint8Array(64).fill(1), 'HS512')],
    ['no signature', async () => unsigned],
    ['no list', () => sign({ Allow: 'admin' })],
    ['a time that is over', () => sign({ Allow: ALL, exp: 1 })],
    ['another form', async () => 'admin'],
    ['nothing', async () => ''],
  ])('are none for a token with %s', async (_, make) => {
    const access = new LotusAccess({ tokens: NO_TOKENS, secret: SECRET });
    expect(await access.permissions(`Bearer ${await make()}`, undefined)).toBeUndefined();
    expect(await access.permissions(undefined, await make())).toBeUndefined();
  });

  it.each(['bearer', 'Bearer ', 'Token', 'Basic'])(
    'are none after the prefix %j',
    async (prefix) => {
      const access = new LotusAccess({ tokens: NO_TOKENS, secret: SECRET });
      expect(await access.permissions(`${prefix} ${RECORDED}`, undefined)).toBeUndefined();
    },
  );

  it('without a token are to read, or all where nobody has one', async () => {
    const tokens = NO_TOKENS;
    expect(await new LotusAccess({ tokens }).permissions(undefined, undefined)).toEqual(ALL);
    for (const access of [
      new LotusAccess({ tokens, secret: SECRET }),
      new LotusAccess({ tokens, askMiner: async () => ALL }),
      new LotusAccess({ tokens: { ...(tokens as object), isOpen: () => false } as never }),
    ]) {
      expect(await access.permissions(undefined, undefined)).toEqual(['read']);
    }
  });
});

describe('a miner that is asked', () => {
  const askMiner = vi.fn(async (token: string) =>
    token.startsWith('good') ? ALL : (null as never),
  );
  let access: LotusAccess;

  beforeEach(() => {
    askMiner.mockClear();
    access = new LotusAccess({ tokens: NO_TOKENS, askMiner });
  });

  it('is asked once for a while', async () => {
    for (let i = 0; i < 5; i++) {
      expect(await access.permissions('Bearer good.a.b', undefined)).toEqual(ALL);
      expect(await access.permissions('Bearer bad.a.b', undefined)).toBeUndefined();
    }
    expect(askMiner).toHaveBeenCalledTimes(2);
  });

  it('is not asked about what is no JWT', async () => {
    expect(await access.permissions('Bearer good', undefined)).toBeUndefined();
    expect(askMiner).not.toHaveBeenCalled();
  });

  it('lets nobody in while it cannot be reached', async () => {
    askMiner.mockRejectedValueOnce(new Error('gone'));
    expect(await access.permissions('Bearer good.a.b', undefined)).toBeUndefined();
  });

  it('counts by its last word while it cannot be reached', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      expect(await access.permissions('Bearer good.a.b', undefined)).toEqual(ALL);
      vi.advanceTimersByTime(61_000);
      askMiner.mockRejectedValueOnce(new Error('gone'));
      expect(await access.permissions('Bearer good.a.b', undefined)).toEqual(ALL);
      vi.advanceTimersByTime(61_000);
      askMiner.mockResolvedValueOnce(null as never);
      expect(await access.permissions('Bearer good.a.b', undefined)).toBeUndefined();
      expect(askMiner).toHaveBeenCalledTimes(3);
    } finally {
      vi.useRealTimers();
    }
  });

  it('is asked about few tokens at once', async () => {
    let release = (_: string[]) => {};
    askMiner.mockImplementation(
      () =>
        new Promise((resolve) => {
          release = resolve as never;
        }),
    );
    const asked = Array.from({ length: 20 }, (_, i) =>
      access.permissions(`Bearer t.${i}.x`, undefined),
    );
    await Promise.all(asked.slice(8));
    expect(askMiner).toHaveBeenCalledTimes(8);
    release(ALL);
    askMiner.mockImplementation(async (token: string) =>
      token.startsWith('good') ? ALL : (null as never),
    );
  });
});

describe('a secret file', () => {
  const base64 = Buffer.from(SECRET).toString('base64');
  it.each([
    ['of a Lotus keystore', JSON.stringify({ Type: 'jwt-hmac-secret', PrivateKey: base64 })],
    ["as in Curio's configuration", `${base64}\n`],
  ])('%s is read', (_, text) => {
    expect(Buffer.from(parseSecret(text) ?? []).equals(SECRET)).toBe(true);
  });

  it.each([
    '',
    'secret!',
    'AAAA',
    '{"Type":"bls","PrivateKey":"AAAA"}',
    '{',
    '{"Type":"jwt-hmac-secret"}',
  ])('%j is refused', (text) => expect(parseSecret(text)).toBeUndefined());
});

describe('at /rpc/v0', () => {
  let app: LotusApp;
  const miner = new FakeMiner();
  const seal = JSON.stringify({
    ...{ id: 1, method: 'Filecoin.SealCommit2' },
    params: [{ ID: { Miner: 1, Number: 2 }, ProofType: 5 }, firstPhase(100_000).toString('base64')],
  });
  const ask = async (headers: Record<string, string>, query = '') => {
    const response = await app.request(`/rpc/v0${query}`, { method: 'POST', body: seal, headers });
    return [response.status, await response.text()] as const;
  };
  const MISSING = "missing permission to invoke 'SealCommit2' (need 'admin')";

  beforeEach(() => {
    app = lotusApp({ secret: SECRET, miner: { url: 'http://127.0.0.1:1', token: miner.ownToken } });
  });

  it('nothing is proved or stored without the permission', async () => {
    const readOnly = {
      authorization: `Bearer ${await sign({ Allow: ['read', 'write', 'sign'] })}`,
    };
    const { token } = await app.tokens.create('writer', 'write');
    for (const headers of [{}, readOnly, { authorization: `Bearer ${token}` }]) {
      const [status, text] = await ask(headers);
      expect([status, JSON.parse(text).error]).toEqual([200, { code: 1, message: MISSING }]);
    }
    for (const headers of [
      { authorization: 'Bearer wrong' },
      { authorization: `Bearer ${RECORDED}x` },
    ]) {
      expect(await ask(headers)).toEqual([401, '']);
    }
    expect(await ask({}, '?token=wrong')).toEqual([401, '']);
    expect(app.payloads.bytes.size).toBe(0);
    expect(app.jobs.all).toEqual([]);
    expect(app.calls.list()).toEqual([]);
    const said = JSON.stringify([app.logged, app.reported]);
    for (const secret of [RECORDED, token, 'wrong', miner.ownToken])
      expect(said).not.toContain(secret);
  });

  it('an administrator proves, by header or query', async () => {
    const { token } = await app.tokens.create('admin', 'admin');
    for (const [status, text] of [
      await ask({ authorization: `Bearer ${RECORDED}` }),
      await ask({}, `?token=${RECORDED}`),
      await ask({ authorization: `Bearer ${token}` }),
    ]) {
      expect([status, JSON.parse(text).result.Sector]).toEqual([200, { Miner: 1, Number: 2 }]);
    }
    expect(app.calls.list()).toHaveLength(3);
  });

  it('a foreign page is refused', async () => {
    const headers = { authorization: `Bearer ${RECORDED}`, origin: 'https://evil.example' };
    expect((await ask(headers))[0]).toBe(403);
  });
});
