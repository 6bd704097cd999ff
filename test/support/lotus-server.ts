// The Lotus face over real jobs and a real store; only the proving is made up, and takes as long as
// it is told. A process of its own, so that it can be killed. Arguments: data folder, MINER_API_INFO,
// milliseconds of a proof.

import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { PayloadFolder } from '../../src/jobs/payloads.ts';
import { Jobs } from '../../src/jobs/service.ts';
import { SqliteJobStore } from '../../src/jobs/sqlite-store.ts';
import { WorkerCallStore } from '../../src/jobs/worker-calls.ts';
import type { KeyCatalog } from '../../src/keys/stored-key.ts';
import type { StatementTask } from '../../src/pipeline/filecoin.ts';
import type { Pipeline, TaskListener } from '../../src/pipeline/pipeline.ts';
import type { Env } from '../../src/rpc/body.ts';
import { errorDescriber } from '../../src/rpc/errors.ts';
import { admission } from '../../src/rpc/guard.ts';
import { Lotus } from '../../src/rpc/lotus/lotus.ts';
import { parseApiInfo } from '../../src/rpc/lotus/miner-api.ts';
import { TokenStore } from '../../src/rpc/tokens.ts';
import { acceptWebSockets } from '../../src/rpc/upgrade.ts';
import { EventStream } from '../../src/telemetry/events.ts';

const [dataDir, minerApi, proveMs] = process.argv.slice(2) as [string, string, string];
const facts = { kind: 'porep', sectorSize: '2KiB', registeredProof: 'x', partitions: 1 };
const key = { path: '/key', digest: 'ab'.repeat(32), checked: true };

const pipeline = {
  choose: async () => 'cpu',
  statement: async () => facts,
  hosts: () => [],
  drain() {},
  async proveStatement({ jobId }: StatementTask, listener: TaskListener) {
    listener.started();
    console.log(`proving ${jobId}`);
    await sleep(Number(proveMs), undefined, { signal: listener.signal });
    return { ...facts, proof: Buffer.from(jobId).toString('hex'), partitions: [] };
  },
};

const store = new SqliteJobStore(join(dataDir, 'jobs.db'));
const calls = new WorkerCallStore(join(dataDir, 'jobs.db'));
const payloads = new PayloadFolder({
  folder: join(dataDir, 'payloads'),
  bytesMax: 2 ** 32,
  inUse: (sha256) => store.needsPayload(sha256) || calls.needsPayload(sha256),
});
const jobs = new Jobs({
  ...{ store, payloads, events: new EventStream(), queueLimit: 1, jobsKept: 100 },
  ...{ jobsKeptMicros: 1e12, pipeline: pipeline as unknown as Pipeline },
  warn: (error) => console.log(error.message),
  findKey: async () => key,
  findKeyFor: async () => key,
});
const log = (fields: object, message: string): void =>
  console.log(JSON.stringify({ ...fields, message }));
const lotus = new Lotus(
  { roles: ['seal'], parallel: 2, miner: parseApiInfo('miner_api', minerApi) },
  {
    ...{ jobs, payloads, calls, keys: { list: async () => [] } as unknown as KeyCatalog },
    tokens: new TokenStore(join(dataDir, 'tokens.json')),
    ...{ admits: admission([], []), describeError: errorDescriber(console.log) },
    log: { info: log, warn: log },
  },
);
const app = new Hono<Env>();
lotus.mount(app);
const server = createAdaptorServer({ fetch: app.fetch }) as Server;
acceptWebSockets(server, lotus);
server.listen(0, '127.0.0.1', () => {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  jobs.recover();
  lotus.start(url);
  console.log(`listening ${url}`);
});
