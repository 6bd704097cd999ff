import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { nowMicros } from '../../../src/core/units.ts';
import type { EventName } from '../../../src/telemetry/events.ts';
import { startTracing } from '../../../src/telemetry/otel.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const EVENTS: readonly EventName[] = [
  'JOB_START',
  'QUEUE_START',
  'QUEUE_END',
  'GPU_START',
  'NTT_START',
  'NTT_END',
  'GPU_END',
  'VERIFY_START',
  'VERIFY_END',
  'JOB_END',
];

interface Received {
  readonly url: string;
  readonly contentType: string;
  readonly body: Buffer;
}

const servers: Server[] = [];
afterEach(() => {
  vi.unstubAllEnvs();
  for (const server of servers.splice(0)) server.close();
});

/** An OTLP receiver on a free port. */
async function receiver(received: Received[]): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const contentType = request.headers['content-type'] ?? '';
      received.push({ url: request.url ?? '', contentType, body: Buffer.concat(chunks) });
      response.setHeader('content-type', contentType).end(contentType.endsWith('json') ? '{}' : '');
    });
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function runJob(warnings: string[]): Promise<number> {
  const tracing = await startTracing({ version: '1.2.3', warn: (line) => warnings.push(line) });
  for (const event of EVENTS) {
    const attributes = event === 'JOB_START' ? { traceId: TRACE_ID } : {};
    tracing.listener({ atMicros: nowMicros(), event, jobId: 'job-1', attributes });
  }
  const asked = performance.now();
  await tracing.shutdown();
  return performance.now() - asked;
}

interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
}

describe('startTracing', () => {
  it('sends the whole tree of a job by OTLP over http/json', async () => {
    const received: Received[] = [];
    const warnings: string[] = [];
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', await receiver(received));
    vi.stubEnv('OTEL_EXPORTER_OTLP_PROTOCOL', 'http/json');
    await runJob(warnings);

    expect(warnings).toEqual([]);
    expect(received.map(({ url, contentType }) => [url, contentType])).toEqual([
      ['/v1/traces', 'application/json'],
    ]);
    const { resourceSpans } = JSON.parse(String(received[0]?.body));
    const spans: OtlpSpan[] = resourceSpans[0].scopeSpans[0].spans;
    expect(spans.map(({ traceId }) => traceId)).toEqual(spans.map(() => TRACE_ID));
    const byId = new Map(spans.map((span) => [span.spanId, span]));
    const nesting = spans.map((span) => {
      const around = span.parentSpanId ? byId.get(span.parentSpanId) : undefined;
      if (around !== undefined) {
        expect(BigInt(span.startTimeUnixNano)).toBeGreaterThanOrEqual(
          BigInt(around.startTimeUnixNano),
        );
        expect(BigInt(span.endTimeUnixNano)).toBeLessThanOrEqual(BigInt(around.endTimeUnixNano));
      }
      return `${around?.name ?? '-'}>${span.name}`;
    });
    expect(nesting.sort()).toEqual(['->JOB', 'GPU>NTT', 'JOB>GPU', 'JOB>QUEUE', 'JOB>VERIFY']);
    expect(resourceSpans[0].resource.attributes).toEqual(
      expect.arrayContaining([
        { key: 'service.name', value: { stringValue: 'proofline' } },
        { key: 'service.version', value: { stringValue: '1.2.3' } },
      ]),
    );
  });

  it('speaks http/protobuf by default, under the name that the environment gives', async () => {
    const received: Received[] = [];
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', await receiver(received));
    vi.stubEnv('OTEL_SERVICE_NAME', 'prover-of-rack-7');
    await runJob([]);
    expect(received.map(({ url, contentType }) => [url, contentType])).toEqual([
      ['/v1/traces', 'application/x-protobuf'],
    ]);
    expect(received[0]?.body.includes('prover-of-rack-7')).toBe(true);
    expect(received[0]?.body.includes(Buffer.from(TRACE_ID, 'hex'))).toBe(true);
  });

  it('neither crashes nor waits when no collector listens', async () => {
    const address = await receiver([]);
    await new Promise((resolve) => servers.pop()?.close(resolve));
    const warnings: string[] = [];
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', address);
    expect(await runJob(warnings)).toBeLessThan(2_500);
    expect(warnings).toEqual([expect.stringMatching(/^traces were not exported: .+/)]);
  });

  it('says once that a collector refuses spans', async () => {
    const server = createServer((_, response) => response.writeHead(400).end());
    servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', `http://127.0.0.1:${port}`);
    const warnings: string[] = [];
    await runJob(warnings);
    expect(warnings).toEqual([expect.stringMatching(/^traces were not exported: .+/)]);
  });
});
