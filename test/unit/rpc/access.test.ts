import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { METHODS } from '../../../src/rpc/methods.ts';
import { ROUTES } from '../../../src/rpc/routes.ts';
import { includesScope, SCOPES, type Scope, TokenStore } from '../../../src/rpc/tokens.ts';
import { type TestApp, testApp } from '../../support/rpc-app.ts';

let folder: string;
let app: TestApp;
const tokens = {} as Record<Scope | 'revoked', string>;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'proofline-access-'));
  const store = new TokenStore(join(folder, 'tokens.json'));
  for (const scope of SCOPES) tokens[scope] = (await store.create(scope, scope)).token;
  tokens.revoked = (await store.create('revoked', 'admin')).token;
  await store.revoke('revoked');
  app = testApp({ tokens: store });
});
afterAll(() => rm(folder, { recursive: true }));

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const WRONG: [string, () => Record<string, string>][] = [
  ['no token', () => ({})],
  ['a wrong one', () => bearer('plt_wrong')],
  ['an empty one', () => ({ authorization: 'Bearer ' })],
  ['another scheme', () => ({ authorization: `Basic ${tokens.admin}` })],
  ['a revoked one', () => bearer(tokens.revoked)],
];
const GUARDED = ROUTES.filter(({ scope }) => scope !== 'anyone').map(({ config, scope }) => ({
  name: `${config.method.toUpperCase()} ${config.path}`,
  method: config.method.toUpperCase(),
  path: config.path.replaceAll('{job_id}', 'job-1').replaceAll('{key}', 'key'),
  scope: scope as Scope,
}));

function send(route: (typeof GUARDED)[number], headers: Record<string, string>) {
  const body = route.method === 'GET' ? {} : { body: '{}' };
  const type = { 'content-type': 'application/json' };
  return app.request(route.path, {
    method: route.method,
    ...body,
    headers: { ...type, ...headers },
  });
}

describe.each(GUARDED)('$name', (route) => {
  it.each(WRONG)('with %s: refused, nothing told', async (_, headers) => {
    const response = await send(route, headers());
    expect(response.status).toBe(401);
    expect(response.headers.get('www-authenticate')).toBe('Bearer');
    expect(await response.json()).toMatchObject({ error: { code: 'ERR_UNAUTHORIZED' } });
  });

  it.each(SCOPES)('with scope %s: let in or not', async (scope) => {
    if (route.path.endsWith('/events') && includesScope(scope, route.scope)) return;
    const response = await send(route, bearer(tokens[scope]));
    const { error } = (await response
      .clone()
      .json()
      .catch(() => ({}))) as { error?: object };
    if (includesScope(scope, route.scope)) expect([401, 403]).not.toContain(response.status);
    else {
      expect(response.status).toBe(403);
      expect(error).toMatchObject({ code: 'ERR_SCOPE' });
    }
  });
});

describe.each(Object.entries(METHODS))('method %s', (name, method) => {
  it.each(SCOPES)('with scope %s: let in or not', async (scope) => {
    const started = app.services.jobs.list({ limit: 100 }).length;
    const request = { jsonrpc: '2.0', id: 1, method: name, params: { job_id: 'job-1' } };
    const response = await app.post('/rpc', request, bearer(tokens[scope]));
    const answer = (await response.json()) as { error?: { data?: { code?: string } } };
    const refused = answer.error?.data?.code === 'ERR_SCOPE';
    expect(refused).toBe(!includesScope(scope, method.scope));
    if (refused) expect(app.services.jobs.list({ limit: 100 }).length).toBe(started);
  });
});

it('answers for health without a token, and for an unknown path with one only', async () => {
  expect((await app.get('/health/live')).status).toBe(200);
  expect((await app.get('/health/ready')).status).not.toBe(401);
  expect((await app.get('/v1/nothing')).status).toBe(401);
  expect((await app.get('/v1/nothing', bearer(tokens.read))).status).toBe(404);
});

it('lets everyone on this machine in while there are no tokens', async () => {
  expect((await testApp().get('/v1/jobs')).status).toBe(200);
});

it('slows a token down, not the others', async () => {
  const store = new TokenStore(join(folder, 'tokens.json'));
  const slow = testApp({ tokens: store, requestsPerMinute: 2 });
  const get = (scope: Scope) => slow.get('/v1/jobs', bearer(tokens[scope]));
  expect((await get('read')).status).toBe(200);
  expect((await get('read')).status).toBe(200);
  const refused = await get('read');
  expect(refused.status).toBe(429);
  expect(refused.headers.get('retry-after')).toBe('30');
  expect((await get('write')).status).toBe(200);
});

it('lets nobody in once the last token is revoked where one is required, and everyone elsewhere', async () => {
  const store = new TokenStore(join(folder, 'last.json'));
  const { token } = await store.create('last', 'read');
  const last = testApp({ tokens: store });
  await store.revoke('last');
  expect((await last.get('/v1/jobs')).status).toBe(200);
  store.require();
  expect((await last.get('/v1/jobs')).status).toBe(401);
  expect((await last.get('/v1/jobs', bearer(token))).status).toBe(401);
  expect((await last.get('/health/live')).status).toBe(200);
});

it('bounds the unsettled jobs of a token', async () => {
  const quota = testApp({ jobsPerToken: 1 });
  const { sha256 } = await quota.services.payloads.put([Buffer.from('w')] as never, 10);
  const prove = () =>
    quota.rpc('prove', { kind: 'circom', key: 'multiplier', payload: { sha256 } });
  expect((await prove()).result).toMatchObject({ state: expect.any(String) });
  expect((await prove()).error?.data).toMatchObject({ code: 'ERR_QUEUE_FULL', limit: 1 });
});

it('answers listed origins, and only those, across sites', async () => {
  const origin = 'https://pages.example';
  const open = testApp({ corsOrigins: [origin] });
  const preflight = await open.request('/rpc', { method: 'OPTIONS', headers: { origin } });
  expect(preflight.status).toBe(204);
  expect(preflight.headers.get('access-control-allow-origin')).toBe(origin);
  const answer = await open.get('/status', { origin });
  expect(answer.headers.get('access-control-allow-origin')).toBe(origin);
  expect((await open.get('/status', { origin: 'https://other.example' })).status).toBe(403);
  expect((await app.get('/status', { origin, ...bearer(tokens.read) })).status).toBe(403);
});
