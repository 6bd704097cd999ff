// cuzk's wire over real jobs, a real store and its real thread; only the proving is made up. A
// process of its own, so that its memory and its event loop can be measured. Arguments: data folder,
// script of the thread, definition, length of the queue, and whether proofs wait in the queue for
// ever (`queued`) or run until they are let go (`held`). It reads lines: `go` lets the proofs go,
// `measure` is answered by what was measured since the one before.

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { createInterface } from 'node:readline';
import { Worker } from 'node:worker_threads';
import { PayloadFolder } from '../../src/jobs/payloads.ts';
import { Jobs } from '../../src/jobs/service.ts';
import { SqliteJobStore } from '../../src/jobs/sqlite-store.ts';
import type { StatementTask } from '../../src/pipeline/filecoin.ts';
import type { Pipeline, TaskListener } from '../../src/pipeline/pipeline.ts';
import { errorDescriber } from '../../src/rpc/errors.ts';
import { Cuzk } from '../../src/rpc/grpc/cuzk.ts';
import { EventStream } from '../../src/telemetry/events.ts';

const [dataDir, entry, protoPath, queueLimit, proofs] = process.argv.slice(2) as [
  string,
  string,
  string,
  string,
  string,
];
let go = () => {};
const letGo = new Promise<void>((resolve) => {
  go = resolve;
});
const facts = { kind: 'porep', sectorSize: '2KiB', registeredProof: 'x', partitions: 1 };
const key = { path: '/key', digest: 'ab'.repeat(32), checked: true };

const pipeline = {
  choose: async () => 'cpu',
  async statement({ path }: { readonly path: string }) {
    return { ...facts, kind: JSON.parse(await readFile(path, 'utf8')).kind };
  },
  hosts: () => [],
  drain() {},
  async proveStatement(_: StatementTask, listener: TaskListener) {
    if (proofs === 'held') listener.started();
    await letGo;
    return { ...facts, proof: 'ab'.repeat(192), partitions: [] };
  },
};

const store = new SqliteJobStore(join(dataDir, 'jobs.db'));
const payloadFolder = join(dataDir, 'payloads');
const payloads = new PayloadFolder({
  folder: payloadFolder,
  bytesMax: 2 ** 40,
  inUse: (sha256) => store.needsPayload(sha256),
});
const events = new EventStream();
const jobs = new Jobs({
  ...{ store, payloads, events, queueLimit: Number(queueLimit), jobsKept: 100 },
  ...{ jobsKeptMicros: 1e12, pipeline: pipeline as unknown as Pipeline },
  warn: (error) => console.error(error.message),
  findKey: async () => key,
  findKeyFor: async () => key,
});
const cuzk = new Cuzk(
  { grpcListen: '127.0.0.1:0', grpcPublic: false, statusListen: '' },
  {
    ...{ jobs, payloads, payloadFolder, events, protoPath, version: '0' },
    keys: { list: async () => [], resolve: () => Promise.reject(new Error('no key')) },
    shutdown: new AbortController().signal,
    createThread: (workerData) => new Worker(entry, { workerData }),
    describeError: errorDescriber(console.error),
    info: (message) => console.log(message),
    warn: console.error,
  },
);
jobs.recover();
await cuzk.start();
const delay = monitorEventLoopDelay({ resolution: 5 });
delay.enable();
createInterface({ input: process.stdin }).on('line', (line) => {
  if (line === 'go') return go();
  const loopMs = {
    p90: delay.percentile(90) / 1e6,
    p99: delay.percentile(99) / 1e6,
    max: delay.max / 1e6,
  };
  console.log(JSON.stringify({ loopMs, rssMiB: process.memoryUsage.rss() / 2 ** 20 }));
  delay.reset();
});
