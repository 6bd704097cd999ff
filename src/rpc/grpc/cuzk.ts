import type { Server } from 'node:http';
import { nowMicros } from '../../core/units.ts';
import type { PayloadFolder } from '../../jobs/payloads.ts';
import type { JobService, KeyLoading } from '../../jobs/service.ts';
import type { KeyCatalog } from '../../keys/stored-key.ts';
import type { EventStream } from '../../telemetry/events.ts';
import type { PublicError } from '../errors.ts';
import { JobCounters } from '../job-counters.ts';
import { StatusReporter } from '../service-status.ts';
import { listen } from '../transport.ts';
import { cuzkStatus } from './cuzk-status.ts';
import { CuzkEngine } from './engine.ts';
import { GrpcFace, type WireThread } from './face.ts';
import { CuzkMetrics } from './metrics.ts';
import { createStatusServer } from './status-listener.ts';
import type { WireOptions } from './wire-server.ts';

/** As the configuration has it; empty texts are absent. */
export interface CuzkConfig {
  readonly grpcListen: string;
  readonly grpcPublic: boolean;
  readonly statusListen: string;
}

export interface CuzkOptions {
  readonly jobs: JobService & KeyLoading;
  readonly payloads: PayloadFolder;
  readonly payloadFolder: string;
  readonly keys: KeyCatalog;
  readonly events: EventStream;
  readonly version: string;
  readonly shutdown: AbortSignal;
  /** Of the interface's definition. */
  readonly protoPath: string;
  createThread(options: WireOptions): WireThread;
  describeError(thrown: unknown): PublicError;
  /** Hears where something is listened at, and what goes wrong. */
  info(message: string): void;
  warn(message: string): void;
}

/** All of the service that users of cuzk see: its gRPC, and its status on a port of its own. */
export class Cuzk {
  readonly #config: CuzkConfig;
  readonly #options: CuzkOptions;
  #face: GrpcFace | undefined;
  #statusServer: Server | undefined;

  constructor(config: CuzkConfig, options: CuzkOptions) {
    this.#config = config;
    this.#options = options;
  }

  /** @throws ERR_PARAMS, ERR_LISTEN, ERR_STORAGE */
  async start(): Promise<void> {
    const { grpcListen, statusListen } = this.#config;
    const { jobs, keys, info } = this.#options;
    if (statusListen !== '') {
      const reporter = new StatusReporter(this.#options, this.#options);
      const server = createStatusServer(() => cuzkStatus(reporter.report(), { jobs, keys }));
      this.#statusServer = server;
      info(`status at ${await listen(server, statusListen, 'http')}/status`);
    }
    if (grpcListen !== '') {
      await this.#options.payloads.open();
      this.#face = new GrpcFace({
        ...this.#options,
        address: grpcListen,
        isPublic: this.#config.grpcPublic,
        engine: this.#engine(),
      });
      info(`gRPC at ${await this.#face.start()}`);
    }
  }

  /** To be called once the jobs are closed. */
  async stop(): Promise<void> {
    await this.#face?.stop();
    this.#statusServer?.close();
    this.#statusServer?.closeAllConnections();
  }

  #engine(): CuzkEngine {
    const { jobs, events } = this.#options;
    const startedAt = nowMicros();
    const counters = new JobCounters(events);
    const metrics = new CuzkMetrics(events, counters, {
      uptimeSeconds: () => (nowMicros() - startedAt) / 1e6,
      queueDepth: () => jobs.queue().depth,
      runningJobs: () => jobs.hosts().filter(({ jobId }) => jobId !== undefined).length,
      workers: () => jobs.hosts().filter(({ available }) => available).length,
    });
    return new CuzkEngine({ ...this.#options, counters, metrics });
  }
}
