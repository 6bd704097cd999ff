import { type AppOptions, createApp } from '../../src/rpc/app.ts';
import { TokenStore } from '../../src/rpc/tokens.ts';
import { type FakeServices, fakeServices } from './fake-service.ts';

export interface TestApp {
  readonly services: FakeServices;
  /** What the service reported as unexpected. */
  readonly reported: { error: unknown; reference: string }[];
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Response>;
  /** The answer to one JSON-RPC request with id 1. */
  rpc(method: string, params?: unknown): Promise<RpcAnswer>;
  request(path: string, init: RequestInit): Promise<Response>;
  /** For a server of its own. */
  readonly fetch: ReturnType<typeof createApp>['fetch'];
}

export interface RpcAnswer {
  readonly id: unknown;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the method answers; tests say what they expect
  readonly result?: any;
  readonly error?: { code: number; message: string; data?: Record<string, unknown> };
}

/** What the app asks of its owner, at values that no test meets by accident. */
export const OPTIONS = {
  version: '1.2.3',
  tokens: new TokenStore('/nonexistent/tokens.json'),
  requestsPerMinute: 100_000,
  jobsPerToken: 1000,
  logLevel: { level: 'info' },
} satisfies AppOptions;

/** The app over fake services, without a socket. */
export function testApp(options: Partial<AppOptions> = {}): TestApp {
  const services = fakeServices();
  const reported: TestApp['reported'] = [];
  const app = createApp(services, {
    ...OPTIONS,
    logLevel: { level: 'info' },
    onInternalError: (error, reference) => void reported.push({ error, reference }),
    ...options,
  });
  const request = async (path: string, init: RequestInit) => app.request(path, init);
  const post: TestApp['post'] = (path, body, headers = {}) =>
    request(path, {
      method: 'POST',
      body: typeof body === 'string' ? body : JSON.stringify(body),
      headers: { 'content-type': 'application/json', ...headers },
    });
  return {
    services,
    reported,
    request,
    fetch: app.fetch,
    post,
    get: (path, headers = {}) => request(path, { headers }),
    rpc: async (method, params) => {
      const answer = await post('/rpc', { jsonrpc: '2.0', id: 1, method, params });
      return (await answer.json()) as RpcAnswer;
    },
  };
}

/** Lets the event loop turn until the condition holds, within five seconds. */
export async function until(condition: () => boolean): Promise<void> {
  const end = Date.now() + 5000;
  while (!condition()) {
    if (Date.now() > end) throw new Error(`never came true: ${condition}`);
    await new Promise((turn) => setImmediate(turn));
  }
}
