import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { type GrpcClient, grpcClient, PROTO } from './grpc.ts';
import { firstPhase } from './lotus.ts';

const from = (path: string) => fileURLToPath(new URL(path, import.meta.url));
/** Where the bundles find the packages that they import. */
const CACHE = from(`../../node_modules/.cache/grpc-${process.pid}`);

export interface Measures {
  readonly loopMs: { readonly p90: number; readonly p99: number; readonly max: number };
  readonly rssMiB: number;
}

export interface GrpcProcess extends AsyncDisposable {
  readonly client: GrpcClient;
  /** Since the last time. */
  measure(): Promise<Measures>;
  /** Lets the proofs go. */
  go(): void;
  /** Resolves once so many proofs run. */
  running(count: number): Promise<void>;
  /** Of its whole life. */
  peakMiB(): Promise<number>;
}

/** @param proofs wait in the queue for ever, or run until they are let go */
export async function grpcProcess(
  proofs: 'queued' | 'held',
  queueLimit: number,
): Promise<GrpcProcess> {
  await build({
    entryPoints: { server: from('./grpc-server.ts'), worker: from('../../src/rpc/grpc/worker.ts') },
    ...{ outdir: CACHE, outExtension: { '.js': '.mjs' }, bundle: true, packages: 'external' },
    ...{ platform: 'node', format: 'esm', logLevel: 'error' },
  });
  const folder = await mkdtemp(join(tmpdir(), 'proofline-grpc-load-'));
  const settings = [join(CACHE, 'worker.mjs'), PROTO, String(queueLimit), proofs];
  const child = spawn(process.execPath, [join(CACHE, 'server.mjs'), folder, ...settings], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const address = /^gRPC at (\S+)/.exec(await nextLine(child))?.[1] as string;
  const client = grpcClient(address);
  return {
    client,
    async measure() {
      child.stdin?.write('measure\n');
      return JSON.parse(await nextLine(child));
    },
    async running(count) {
      for (;;) {
        const { queues } = await client.call('GetStatus');
        if (queues[0].in_progress === count) return;
        await sleep(50);
      }
    },
    go: () => void child.stdin?.write('go\n'),
    async peakMiB() {
      const status = await readFile(`/proc/${child.pid}/status`, 'latin1');
      return Number(/^VmHWM:\s*(\d+)/m.exec(status)?.[1]) / 1024;
    },
    async [Symbol.asyncDispose]() {
      client.close();
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      await rm(folder, { recursive: true });
      await rm(CACHE, { recursive: true });
    },
  };
}

async function nextLine({ stdout }: ChildProcess): Promise<string> {
  const [chunk] = await once(stdout as NonNullable<typeof stdout>, 'data');
  return String(chunk);
}

/** Proves so many sectors at once. @returns of each its status, or the code of its error */
export async function proveAtOnce(
  client: GrpcClient,
  count: number,
  wrapperBytes: number,
): Promise<string[]> {
  const c1 = firstPhase(Math.floor((wrapperBytes * 3) / 4)).toString('base64');
  const vanilla_proof = Buffer.from(`{"SectorNum":9,"Phase1Out":"${c1}","SectorSize":2048}`);
  const calls = Array.from({ length: count }, async (_, sector_number) => {
    const submit = {
      ...{ request_id: `porep-1000-${sector_number}`, proof_kind: 1, miner_id: 1000 },
      ...{ sector_number, registered_proof: 5, vanilla_proof },
    };
    return client.call('Prove', { submit }).then(
      ({ result }) => `status ${result.status}`,
      ({ code }) => `code ${code}`,
    );
  });
  return await Promise.all(calls);
}
