import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Io } from '../../../src/cli/io.ts';
import type { MachineFacts } from '../../../src/cli/machine.ts';
import { run } from '../../../src/cli/program.ts';
import type { CircomReport, Engine, RemoteServer, Wiring } from '../../../src/cli/wiring.ts';
import { type Flags, loadConfig, showConfig } from '../../../src/config.ts';
import { GIB } from '../../../src/core/units.ts';
import type { SnarkjsVerificationKey } from '../../../src/formats/snarkjs-json.ts';
import type {
  BenchProveResult,
  FilecoinCircuit,
  ProbedBackend,
} from '../../../src/host/protocol.ts';
import { KeyStore } from '../../../src/keys/store.ts';
import { TokenStore } from '../../../src/rpc/tokens.ts';
import { timelineOf } from '../../../src/trace/timeline.ts';
import { timingsOf } from '../../../src/trace/timings.ts';
import { drawn } from '../trace/drawn.ts';

const EVENTS = drawn('JOB ├──────────┤\nGPU   ├─────┤\nVERIFY      ├──┤', 5_000_000, 'job-1');

export const REPORT: CircomReport = {
  jobId: 'job-1',
  proof: {
    pi_a: ['1', '2', '1'],
    pi_b: [
      ['3', '4'],
      ['5', '6'],
      ['1', '0'],
    ],
    pi_c: ['7', '8', '1'],
    protocol: 'groth16',
    curve: 'bn128',
  },
  public: ['33'],
  keyDigest: 'ab'.repeat(32),
  backend: 'cpu-reference',
  device: '0',
  attempts: 1,
  verified: true,
  timeline: timelineOf('job-1', EVENTS),
  timings: timingsOf(EVENTS),
};

export const VERIFICATION_KEY: SnarkjsVerificationKey = {
  protocol: 'groth16',
  curve: 'bn128',
  nPublic: 1,
  vk_alpha_1: ['1', '2', '1'],
  vk_beta_2: REPORT.proof.pi_b,
  vk_gamma_2: REPORT.proof.pi_b,
  vk_delta_2: REPORT.proof.pi_b,
  vk_alphabeta_12: [],
  IC: [
    ['1', '2', '1'],
    ['1', '2', '1'],
  ],
};

export const BACKENDS: readonly ProbedBackend[] = [
  { name: 'cuda', probe: { available: false, reason: 'not built' } },
  {
    name: 'cpu-reference',
    probe: {
      available: true,
      version: 'node v20.20.2',
      devices: [{ id: '0', name: 'Some CPU', memoryBytes: 8 * GIB }],
    },
  },
];

export const BENCH: BenchProveResult = {
  curve: 'bn254',
  constraints: 100,
  logN: 7,
  backend: 'cpu',
  instructionSet: 'adx',
  threads: 2,
  cpu: 'a processor',
  runs: 5,
  seconds: 0.5,
  peakBytes: 1024,
  stages: { NTT: 1 },
  peer: 'snarkjs',
  peerSeconds: 5,
  ratio: 10,
  peerPeakBytes: 4096,
};

export const FACTS: MachineFacts = {
  nodeVersion: '20.20.2',
  cpu: 'Some CPU',
  cores: 4,
  memoryBytes: 16 * GIB,
  memoryFreeBytes: 9.5 * GIB,
  compiler: 'g++ 12.2.0',
  cmake: 'cmake version 3.25.1',
  dataDirProblem: undefined,
};

/** What a fake prover was asked, in order. */
export type Asked = readonly [string, ...unknown[]];

interface Fakes extends Partial<Omit<Engine, 'vkey'>>, Partial<Pick<RemoteServer, 'timeline'>> {
  vkey?: Engine['vkey'];
  startServer?: Wiring['startServer'];
  facts?: Partial<MachineFacts>;
  env?: Record<string, string>;
}

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly asked: readonly Asked[];
}

export interface Outside {
  /** Of standard output and standard error. Default false. */
  readonly tty?: boolean;
  readonly columns?: number;
  readonly interrupt?: AbortSignal;
  /** Called with what is written to standard error as it is written. */
  readonly onStderr?: (text: string) => void;
}

/** Runs a command line against a fake of everything below the commands. */
export async function command(
  argv: readonly string[],
  fakes: Fakes = {},
  outside: Outside = {},
): Promise<Ran> {
  const written = { stdout: '', stderr: '' };
  const terminal = (name: 'stdout' | 'stderr') => ({
    write(text: string) {
      written[name] += text;
      if (name === 'stderr') outside.onStderr?.(text);
    },
    isTTY: outside.tty === true,
    ...(outside.columns !== undefined && { columns: outside.columns }),
  });
  const io: Io = {
    stdout: terminal('stdout'),
    stderr: terminal('stderr'),
    interrupt: outside.interrupt ?? new AbortController().signal,
  };
  const asked: Asked[] = [];
  const code = await run(argv, fakeWiring(fakes, asked), io);
  return { code, ...written, asked };
}

function fakeWiring(fakes: Fakes, asked: Asked[]): Wiring {
  const config = (flags: Flags = {}) =>
    loadConfig(flags, { PROOFLINE_DATA_DIR: '/data', ...fakes.env });
  const noKeys = { inspect: none, digestKey: none, checkKey: none };
  const prover: Engine & RemoteServer = {
    get keys() {
      return new KeyStore(join(config().dataDir, 'keys'), noKeys, () => 0);
    },
    async prove(input, hooks) {
      asked.push(['prove', input]);
      return fakes.prove === undefined ? REPORT : fakes.prove(input, hooks);
    },
    async verify(input, hooks) {
      asked.push(['verify', input]);
      return fakes.verify === undefined ? { valid: true } : fakes.verify(input, hooks);
    },
    async verifyStatement(params, hooks) {
      asked.push(['verify statement', params]);
      return fakes.verifyStatement?.(params, hooks) ?? { valid: true };
    },
    async setup(params, hooks) {
      asked.push(['setup', params]);
      if (fakes.setup !== undefined) return fakes.setup(params, hooks);
      const { outPath: path } = params;
      return { path, digest: 'cd'.repeat(32), bytes: 2580, constraints: 1, insecure: 'forgeable' };
    },
    async vkey(keyPath) {
      asked.push(['vkey', keyPath]);
      return fakes.vkey === undefined ? VERIFICATION_KEY : fakes.vkey(keyPath);
    },
    async probe() {
      return fakes.probe === undefined ? BACKENDS : fakes.probe();
    },
    async benchParts(params) {
      asked.push(['bench parts', params]);
      const { what, curve, logN, threads, runs } = params;
      const cpu = 'a processor';
      return { what, curve, logN, threads, runs, cpu, instructionSet: 'adx', seconds: 0.25 };
    },
    async benchSynthesis(params) {
      asked.push(['bench synthesis', params]);
      const circuit = 'kind' in params.of ? params.of : { kind: 'porep', sectorSize: '2KiB' };
      return {
        ...{ ...params, circuit: circuit as FilecoinCircuit, constraints: 9, cpu: 'a processor' },
        ...{ seconds: 2, parts: { open: 0.5, compute: 1.5 }, layoutSeconds: 1 },
        ...{ vanillaSeconds: 4, wholeSeconds: 7, peakBytes: 2 ** 20, wholePeakBytes: 2 ** 21 },
      };
    },
    async benchProve(params) {
      asked.push(['bench', params]);
      return BENCH;
    },
    async timeline(jobId) {
      asked.push(['timeline', jobId]);
      return fakes.timeline === undefined ? REPORT.timeline : fakes.timeline(jobId);
    },
    async [Symbol.asyncDispose]() {
      asked.push(['closed']);
    },
  };
  return {
    version: '1.2.3',
    config,
    showConfig: (flags) => showConfig(flags, { PROOFLINE_DATA_DIR: '/data', ...fakes.env }),
    tokens: (flags) => new TokenStore(join(config(flags).dataDir, 'tokens.json')),
    async openEngine(flags) {
      config(flags);
      asked.push(['engine', flags]);
      return prover;
    },
    async connectServer(url) {
      asked.push(['server', url]);
      return prover;
    },
    async startServer(flags) {
      asked.push(['serve', flags]);
      if (fakes.startServer !== undefined) return fakes.startServer(flags);
      const stop = async () => void asked.push(['stopped']);
      return { url: 'http://127.0.0.1:4321', stop };
    },
    async inspectMachine() {
      return { ...FACTS, ...fakes.facts };
    },
  };
}

/** A folder that is removed after the test; answers the path of a name in it. */
export function folder(): (name: string) => string {
  const path = mkdtempSync(join(tmpdir(), 'proofline-cli-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return (name) => join(path, name);
}

function none(): never {
  throw new Error('this test has no device host');
}
