import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import packageJson from '../package.json' with { type: 'json' };
import { LocalEngine } from './cli/engine.ts';
import type { Engine, RunningServer } from './cli/wiring.ts';
import type { Config } from './config.ts';
import { nowMicros } from './core/units.ts';
import { HostClient } from './host/client.ts';
import { PayloadFolder } from './jobs/payloads.ts';
import { Jobs, type StoredKey } from './jobs/service.ts';
import { SqliteJobStore } from './jobs/sqlite-store.ts';
import { unsettledJobs } from './jobs/unsettled.ts';
import { WorkerCallStore } from './jobs/worker-calls.ts';
import { KeyStore } from './keys/store.ts';
import type { KeyInfo } from './keys/stored-key.ts';
import { Pipeline } from './pipeline/pipeline.ts';
import { createApp } from './rpc/app.ts';
import { errorDescriber } from './rpc/errors.ts';
import { Cuzk } from './rpc/grpc/cuzk.ts';
import { admission } from './rpc/guard.ts';
import { Lotus, readLotusSettings } from './rpc/lotus/lotus.ts';
import { TokenStore } from './rpc/tokens.ts';
import { listen, openTransport } from './rpc/transport.ts';
import { acceptWebSockets } from './rpc/upgrade.ts';
import { EventStream } from './telemetry/events.ts';
import { createLog, logJobs } from './telemetry/log.ts';
import { startTracing } from './telemetry/otel.ts';
import { TimelineLines } from './telemetry/timeline-lines.ts';
import { TimingLines } from './telemetry/timing-lines.ts';

export const { version } = packageJson;
const HOST_ENTRY = fileURLToPath(new URL('./host.js', import.meta.url));
const GRPC_ENTRY = fileURLToPath(new URL('./grpc.js', import.meta.url));
const GRPC_PROTO = fileURLToPath(new URL('../openapi/cuzk.proto', import.meta.url));

export function openTokens({ dataDir }: Config): TokenStore {
  return new TokenStore(join(dataDir, 'tokens.json'));
}

/** A prover inside this process's device hosts. */
export async function openEngine(config: Config): Promise<Engine> {
  const events = new EventStream();
  const pipeline = createPipeline(config);
  const keys = createKeyStore(config, pipeline);
  return new LocalEngine({ pipeline, keys, events, close: await trace(config, events) });
}

/** The whole service; resolves once it listens. @throws ERR_LISTEN, ERR_STORE, ERR_PARAMS */
export async function startServer(config: Config): Promise<RunningServer> {
  const tokens = openTokens(config);
  const transport = await openTransport(config, tokens);
  const lotusSettings = await readLotusSettings(config);
  const store = new SqliteJobStore(join(config.dataDir, 'jobs.db'));
  const calls = new WorkerCallStore(join(config.dataDir, 'jobs.db'));
  const log = createLog(config.logLevel, process.stderr);
  for (const note of config.notes) log.info(`configuration: ${note}`);
  const events = new EventStream();
  const endTracing = await trace(config, events);
  events.subscribe(logJobs(log));
  if (config.timelineLines) {
    const write = (line: string): void => void process.stderr.write(`${line}\n`);
    events.subscribe(new TimelineLines(nowMicros(), write).listener);
    events.subscribe(new TimingLines(write).listener);
  }
  const pipeline = createPipeline(config);
  const keys = createKeyStore(config, pipeline);
  const payloadFolder = join(config.dataDir, 'payloads');
  const payloads = new PayloadFolder({
    folder: payloadFolder,
    bytesMax: config.payloadsLimitBytes,
    inUse: (sha256) => store.needsPayload(sha256) || calls.needsPayload(sha256),
  });
  const jobs = new Jobs({
    ...config,
    store,
    pipeline,
    payloads,
    events,
    warn: (error, jobId) => log.warn({ job_id: jobId, code: error.code }, error.message),
    findKey: async (nameOrDigest) => storedKey(await keys.resolve(nameOrDigest)),
    findKeyFor: async (kind, size) => storedKey(await keys.resolveFor(kind, size)),
  });
  const shutdown = new AbortController();
  const onInternalError = (error: unknown, reference: string): void =>
    log.error({ err: error, reference }, 'internal error');
  const allowedHosts = [...config.allowedHosts, ...workerHosts(config)];
  const lotus = new Lotus(lotusSettings, {
    ...{ jobs, payloads, calls, keys, tokens, log },
    admits: admission(allowedHosts, config.corsOrigins),
    describeError: errorDescriber(onInternalError),
  });
  const cuzk = new Cuzk(config, {
    ...{ jobs, payloads, payloadFolder, keys, events, version, shutdown: shutdown.signal },
    protoPath: GRPC_PROTO,
    createThread: (workerData) => new Worker(GRPC_ENTRY, { workerData }),
    describeError: errorDescriber(onInternalError),
    info: (message) => log.info({}, message),
    warn: (message) => log.warn({}, message),
  });
  const app = createApp(
    { jobs, payloads, keys, events },
    {
      ...config,
      ...{ version, tokens, allowedHosts, lotus, onInternalError },
      logLevel: log,
      shutdown: shutdown.signal,
    },
  );
  const server = transport.createServer(app.fetch);
  acceptWebSockets(server, lotus);
  try {
    const url = await listen(server, config.listen, transport.scheme);
    await pipeline.probe();
    jobs.recover();
    await cuzk.start();
    lotus.start(url);
    return {
      url,
      async stop() {
        shutdown.abort();
        server.close();
        await jobs.close(config.drainMs);
        await cuzk.stop();
        await lotus.stop();
        server.closeAllConnections();
        await pipeline.close();
        calls.close();
        store.close();
        await endTracing();
      },
    };
  } catch (thrown) {
    server.close();
    await cuzk.stop();
    await pipeline.close();
    calls.close();
    store.close();
    await endTracing();
    throw thrown;
  }
}

function storedKey({ path, digest, points }: KeyInfo): StoredKey {
  return { path, digest, checked: points !== 'not checked' };
}

/** The name that a Lotus miner calls the service by. */
function workerHosts({ minerApi, workerUrl, listen: address }: Config): string[] {
  return minerApi === '' ? [] : [new URL(workerUrl || `http://${address}`).hostname];
}

function createKeyStore({ dataDir }: Config, pipeline: Pipeline): KeyStore {
  const needed = (digest: string) => unsettledJobs(join(dataDir, 'jobs.db'), digest);
  return new KeyStore(join(dataDir, 'keys'), pipeline, needed);
}

function createPipeline({ threads }: Config): Pipeline {
  return new Pipeline({ createHost: (device) => new HostClient(device, HOST_ENTRY), threads });
}

/** Exports traces where that was asked for. @returns what ends it */
async function trace(config: Config, events: EventStream): Promise<() => Promise<void>> {
  if (!config.telemetryExport) return async () => {};
  const tracing = await startTracing({ version, warn: (line) => console.error(line) });
  events.subscribe(tracing.listener);
  return () => tracing.shutdown();
}
