import { describe, expect, it } from 'vitest';
import { ROUTES } from '../../../src/rpc/routes.ts';
import { testApp } from '../../support/rpc-app.ts';

describe('Host', () => {
  it.each(['127.0.0.1', '127.0.0.1:9830', 'localhost', 'LOCALHOST:1', '[::1]', '[::1]:65535'])(
    '%s is this service',
    async (host) => {
      expect((await testApp().get('/health/live', { host })).status).toBe(200);
    },
  );

  it.each([
    'evil.example',
    'evil.example:9830',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'localhost:9830.evil.example',
    'localhost@evil.example',
    'evil.example#localhost',
    'evil.example/localhost',
    'localhost.',
    '127.0.0.2',
    '[::2]',
    '::1',
    'localhost:',
    'localhost:x',
    'localhost, evil.example',
    '',
  ])('%j is another', async (host) => {
    const answer = await testApp().get('/health/live', { host });
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ error: { code: 'ERR_FORBIDDEN' } });
  });

  it('may be configured', async () => {
    const app = testApp({ allowedHosts: ['Prover.example'] });
    expect((await app.get('/health/live', { host: 'prover.example:443' })).status).toBe(200);
    expect((await app.get('/health/live', { host: 'other.example' })).status).toBe(403);
  });
});

describe('Origin', () => {
  it.each([
    'http://localhost',
    'http://127.0.0.1:9830',
    'https://[::1]:1',
    'http://LOCALHOST:3000',
  ])('%s may', async (origin) => {
    expect((await testApp().get('/health/live', { origin })).status).toBe(200);
  });

  it.each([
    'null',
    '',
    'https://evil.example',
    'http://localhost.evil.example',
    'http://localhost@evil.example',
    'http://evil.example/localhost',
    'file://localhost',
    'localhost',
    'http://localhost http://evil.example',
  ])('%j may not', async (origin) => {
    expect((await testApp().get('/health/live', { origin })).status).toBe(403);
  });
});

describe('every route', () => {
  const routes = [...ROUTES.map(({ config }) => config), { method: 'get', path: '/nope' }];
  const send = (method: string, path: string, headers: Record<string, string>) =>
    testApp().request(path.replace('{job_id}', 'job-1'), { method: method.toUpperCase(), headers });

  it.each(routes)('$method $path refuses foreign names', async ({ method, path }) => {
    expect((await send(method, path, { host: 'evil.example' })).status).toBe(403);
    expect((await send(method, path, { origin: 'https://evil.example' })).status).toBe(403);
  });

  it.each(routes)('$method $path has the security headers', async ({ method, path }) => {
    for (const headers of [{}, { host: 'evil.example' }]) {
      const answer = await send(method, path, headers);
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
        'cross-origin-resource-policy': 'same-origin',
        'referrer-policy': 'no-referrer',
      });
      expect(
        [...answer.headers.keys()].filter((name) => name.startsWith('access-control')),
      ).toEqual([]);
    }
  });
});
