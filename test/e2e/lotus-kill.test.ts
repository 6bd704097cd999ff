import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeMiner, firstPhase } from '../support/lotus.ts';

const ENTRY = fileURLToPath(new URL('../support/lotus-server.ts', import.meta.url));
/** Where the bundle finds the packages that it imports. */
const BUNDLE = fileURLToPath(
  new URL(`../../node_modules/.cache/lotus-server-${process.pid}.mjs`, import.meta.url),
);
const SECTOR = { ID: { Miner: 1000, Number: 9 }, ProofType: 5 };

let miner: FakeMiner;
let dataDir: string;
const running: ChildProcess[] = [];

beforeAll(async () => {
  await build({
    ...{ entryPoints: [ENTRY], outfile: BUNDLE, bundle: true, packages: 'external' },
    ...{ platform: 'node', format: 'esm', logLevel: 'error' },
  });
});

afterAll(() => rm(BUNDLE));

beforeEach(async () => {
  miner = new FakeMiner();
  await miner.listen();
  dataDir = await mkdtemp(join(tmpdir(), 'proofline-lotus-kill-'));
});

afterEach(async () => {
  for (const child of running.splice(0)) child.kill('SIGKILL');
  await miner.close();
  await rm(dataDir, { recursive: true });
});

interface Worker {
  readonly url: string;
  kill(): Promise<void>;
  /** Resolves once it has written the text. */
  said(text: string): Promise<void>;
}

async function start(proveMs: number): Promise<Worker> {
  const child = spawn(process.execPath, [BUNDLE, dataDir, miner.apiInfo, String(proveMs)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  running.push(child);
  let output = '';
  const heard = new Set<() => void>();
  child.stdout.on('data', (chunk) => {
    output += chunk;
    for (const wake of heard) wake();
  });
  const said = async (text: string): Promise<void> => {
    while (!output.includes(text)) await new Promise<void>((resolve) => heard.add(resolve));
  };
  await said('listening');
  return {
    url: /listening (\S+)/.exec(output)?.[1] as string,
    said,
    async kill() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}

const seal = async (url: string) =>
  (await miner.ask(`${url}/rpc/v0`, 'SealCommit2', [SECTOR, firstPhase(50_000).toString('base64')]))
    .result;

describe('a worker that is killed', () => {
  it('in the middle of a proof joins again and returns it once, under the same id', async () => {
    const first = await start(600_000);
    await first.said('joined the miner');
    const call = await seal(first.url);
    await first.said('proving');
    await first.kill();
    const second = await start(50);
    await until(() => miner.results.size === 1);
    await second.said('joined the miner');
    expect(miner.called('ReturnSealCommit2').map(({ params }) => params[0])).toEqual([call]);
    const [, proof, error] = miner.results.get(call.ID) ?? [];
    expect(error).toBeNull();
    expect(Buffer.from(String(proof), 'base64').toString()).toMatch(/^[0-9a-f-]{36}$/);
    const sessions = miner.joined.map(({ session }) => session);
    expect(new Set(sessions).size).toBe(2);
    await second.said('the miner has the result');
    await second.kill();
    await (await start(50)).said('joined the miner');
    expect(miner.called('ReturnSealCommit2')).toHaveLength(1);
  });

  it('with a result that no miner took offers it when it is back', async () => {
    miner.refuses = ({ method }) => (method === 'ReturnSealCommit2' ? 'busy' : undefined);
    const first = await start(10);
    await first.said('joined the miner');
    const call = await seal(first.url);
    await first.said('the miner refuses: busy');
    await first.kill();
    miner.refuses = () => undefined;
    await start(600_000);
    await until(() => miner.results.has(call.ID));
    expect(miner.called('ReturnSealCommit2')).toHaveLength(2);
  });

  it('takes more calls than its queue is long, and proves them all', async () => {
    const worker = await start(20);
    await worker.said('joined the miner');
    const calls = await Promise.all(Array.from({ length: 4 }, () => seal(worker.url)));
    await until(() => miner.results.size === 4);
    expect([...miner.results.keys()].sort()).toEqual(calls.map(({ ID }) => ID).sort());
  });
});
