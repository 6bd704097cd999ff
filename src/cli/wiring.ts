import type { BackendName } from '../backend/backend.ts';
import type { Config, Flags, ShownConfig } from '../config.ts';
import type { SnarkjsVerificationKey } from '../formats/snarkjs-json.ts';
import type {
  BenchPartsParams,
  BenchPartsResult,
  BenchProveParams,
  BenchProveResult,
  BenchSynthesisParams,
  BenchSynthesisResult,
  ProbedBackend,
  SetupParams,
  SetupResult,
  WitnessSource,
} from '../host/protocol.ts';
import type { KeyStore } from '../keys/store.ts';
import type { FilecoinKind, ProveOutcome, VerifyOutcome } from '../pipeline/pipeline.ts';
import type { TokenStore } from '../rpc/tokens.ts';
import type { ProverEvent } from '../telemetry/events.ts';
import type { Timeline } from '../trace/timeline.ts';
import type { Timings } from '../trace/timings.ts';
import type { MachineFacts } from './machine.ts';

/**
 * What the commands need of the rest of the program; `main.ts` supplies it. Everything may throw
 * ProverError, and nothing is built before a command asks for it.
 */
export interface Wiring {
  readonly version: string;
  /** @throws ERR_PARAMS naming the setting */
  config(flags?: Flags): Config;
  /** @throws ERR_PARAMS naming the setting */
  showConfig(flags: Flags): ShownConfig;
  /** A prover inside this process's device hosts. */
  openEngine(flags: Flags): Promise<Engine>;
  /**
   * @param url of a running service, for example `http://127.0.0.1:9830`. @throws ERR_UNREACHABLE
   */
  connectServer(url: string): Promise<RemoteServer>;
  /** Resolves once the service listens. */
  startServer(flags: Flags): Promise<RunningServer>;
  inspectMachine(dataDir: string): Promise<MachineFacts>;
  tokens(flags: Flags): TokenStore;
}

/** What a long call obeys and reports to. */
export interface CallHooks {
  /** Once it is aborted, the call rejects with ERR_CANCELLED within a second. */
  readonly signal: AbortSignal;
  /** Share that is done, 0 to 1. */
  readonly onProgress?: (share: number) => void;
  /** Events of the job as they come. Optional to call. */
  readonly onEvent?: (event: ProverEvent) => void;
}

export type ProveInput = CircomInput | StatementInput;

export interface CircomInput {
  /** Engine: path of a zkey. Server: name or SHA-256 of a key that it stores. */
  readonly key: string;
  /** Server: a `.wtns` file only. */
  readonly witness: WitnessSource;
  /** Engine only. */
  readonly r1csPath?: string;
  readonly backend?: BackendName;
}

/** A proof of Filecoin. */
export interface StatementInput {
  readonly kind: FilecoinKind;
  /** JSON of a statement file. */
  readonly statement: object;
  /** Paths. */
  readonly vanilla: readonly string[];
  /** Absent: all. */
  readonly partition?: number;
  /** As a circom circuit's, but parameters. Absent: the stored key that fits. */
  readonly key?: string;
  readonly backend?: BackendName;
}

export type ProveReport = ProveOutcome & {
  readonly jobId: string;
  readonly timeline: Timeline;
  readonly timings: Timings;
};
export type FilecoinReport = Extract<ProveReport, { readonly kind: FilecoinKind }>;
export type CircomReport = Exclude<ProveReport, FilecoinReport>;

/** Either `key`, as in ProveInput, or a verification key; JSON as parsed, unchecked. */
export interface VerifyInput {
  readonly key?: string;
  readonly verificationKey?: unknown;
  readonly proof: unknown;
  readonly public: unknown;
}

export interface StatementProof {
  /** JSON of a statement file. */
  readonly statement: object;
  /** 192 bytes a partition, hex. */
  readonly proof: string;
  /** As in StatementInput; for an engine also a verifying key. */
  readonly key?: string;
}

export interface Prover extends AsyncDisposable {
  prove(input: ProveInput, hooks: CallHooks): Promise<ProveReport>;
  verify(input: VerifyInput, hooks: CallHooks): Promise<VerifyOutcome>;
  /** All partitions of a proof of Filecoin. */
  verifyStatement(input: StatementProof, hooks: CallHooks): Promise<VerifyOutcome>;
}

export interface Engine extends Prover {
  /** The keys of the data folder. */
  readonly keys: KeyStore;
  /** Writes the key whole or not at all. */
  setup(params: SetupParams, hooks: CallHooks): Promise<SetupResult>;
  /** Verification key of a zkey or of bellman parameters. */
  vkey(keyPath: string): Promise<SnarkjsVerificationKey>;
  benchParts(params: BenchPartsParams, hooks: CallHooks): Promise<BenchPartsResult>;
  benchSynthesis(params: BenchSynthesisParams, hooks: CallHooks): Promise<BenchSynthesisResult>;
  benchProve(params: BenchProveParams, hooks: CallHooks): Promise<BenchProveResult>;
  /** What each backend offers here, fastest first. */
  probe(): Promise<readonly ProbedBackend[]>;
}

export interface RemoteServer extends Prover {
  /** @throws ERR_JOB_UNKNOWN */
  timeline(jobId: string): Promise<Timeline>;
}

export interface RunningServer {
  readonly url: string;
  /** Accepts nothing more, settles what is left and resolves once all is closed. */
  stop(): Promise<void>;
}
