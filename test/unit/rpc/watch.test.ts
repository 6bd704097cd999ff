import { expect, it } from 'vitest';
import type { Micros } from '../../../src/core/units.ts';
import type { EventName } from '../../../src/telemetry/events.ts';
import { KEY } from '../../support/fake-service.ts';
import { type TestApp, testApp, until } from '../../support/rpc-app.ts';

async function submit(app: TestApp): Promise<string> {
  const { sha256 } = await app.services.payloads.put([Buffer.from('w')] as never, 10);
  const params = { kind: 'circom', key: KEY.name, payload: { sha256 } };
  return (await app.rpc('prove', params)).result.job_id;
}

function emit(app: TestApp, jobId: string, event: EventName) {
  app.services.events.emit({ atMicros: 1 as Micros, event, jobId });
}

/** What a stream has sent so far. */
function read(response: Response) {
  let text = '';
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  const done = (async () => {
    for (;;) {
      const { value, done: ended } = await reader.read();
      if (ended) return;
      text += Buffer.from(value).toString();
    }
  })();
  return { text: () => text, done, cancel: () => reader.cancel() };
}

const ids = (text: string) => [...text.matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]));

it('streams the events of one job, and resumes after the last one seen', async () => {
  const app = testApp();
  const [ours, other] = ['ours', 'other'];
  const id = await submit(app);
  for (const job of [ours, other]) emit(app, job, 'NTT_START');
  emit(app, id, 'NTT_START');
  emit(app, id, 'NTT_END');
  const all = read(await app.get(`/v1/jobs/${id}/events`));
  await until(() => all.text().includes('NTT_END'));
  expect(all.text()).not.toContain('other');
  const [, second] = ids(all.text()).slice(-2);
  await all.cancel();
  emit(app, id, 'MSM_H_START');
  const resumed = read(await app.get(`/v1/jobs/${id}/events`, { 'last-event-id': String(second) }));
  await until(() => resumed.text().includes('MSM_H_START'));
  expect(resumed.text()).not.toContain('NTT');
  await resumed.cancel();
});

it('streams everything that happens from now on', async () => {
  const app = testApp();
  emit(app, 'before', 'NTT_START');
  const stream = read(await app.get('/v1/events'));
  await new Promise((resolve) => setImmediate(resolve));
  emit(app, 'after', 'NTT_START');
  await until(() => stream.text().includes('after'));
  expect(stream.text()).not.toContain('before');
  expect(stream.text()).toMatch(
    /event: NTT_START\ndata: \{"at_micros":1,"job_id":".*"\}\nid: \d+\n\n/,
  );
  await stream.cancel();
});

it('cuts a client off that falls too far behind', async () => {
  const app = testApp();
  const response = await app.get('/v1/events');
  await new Promise((resolve) => setImmediate(resolve));
  for (let i = 0; i < 20_000; i++) emit(app, 'flood', 'NTT_START');
  const stream = read(response);
  await stream.done;
  expect(ids(stream.text()).length).toBeLessThan(2000);
});

it('brings a client up to date, however far it is behind, while events go on', async () => {
  const app = testApp();
  for (let i = 0; i < 5000; i++) emit(app, 'old', 'NTT_START');
  const stream = read(await app.get('/v1/events', { 'last-event-id': '1' }));
  const going = setInterval(() => emit(app, 'new', 'NTT_START'), 1);
  await until(() => stream.text().includes('new'));
  clearInterval(going);
  const seen = ids(stream.text());
  expect(seen.length).toBeGreaterThan(5000);
  expect(seen).toEqual(seen.map((_, i) => (seen[0] as number) + i));
  await stream.cancel();
});

it('gives ids that are larger than those of an earlier process', async () => {
  const app = testApp();
  emit(app, 'a', 'NTT_START');
  const stream = read(await app.get('/v1/events', { 'last-event-id': String(Date.now() - 1000) }));
  await until(() => stream.text().includes('NTT_START'));
  await stream.cancel();
});

it('refuses an id that is none and a job that is none', async () => {
  const app = testApp();
  expect((await app.get('/v1/events', { 'last-event-id': 'x' })).status).toBe(400);
  expect((await app.get('/v1/jobs/none/events')).status).toBe(404);
});

it('serves metrics', async () => {
  const app = testApp();
  await submit(app);
  await submit(app);
  const response = await app.get('/metrics');
  expect(response.headers.get('content-type')).toContain('version=0.0.4');
  expect(await response.text()).toContain('proofline_queue_depth 2');
});

it('changes the log level at run time', async () => {
  const logLevel = { level: 'info' };
  const app = testApp({ logLevel });
  const put = (body: object) =>
    app.request('/v1/log-level', {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  expect(await (await put({ level: 'debug' })).json()).toEqual({ level: 'debug' });
  expect(logLevel.level).toBe('debug');
  expect((await put({ level: 'all' })).status).toBe(400);
  expect(logLevel.level).toBe('debug');
});
