import type { WorkerEndpoint } from './endpoint.ts';
import { goError } from './envelope.ts';
import {
  anything,
  boolean,
  bytes,
  cid,
  type GoType,
  postSector,
  sectorId,
  sectorRef,
  slice,
  text,
  uint64,
} from './go-values.ts';
import type { LotusWorker } from './worker.ts';

/** One call, by whom and where. */
export interface CallContext {
  readonly endpoint: WorkerEndpoint;
  readonly permissions: readonly string[];
  /** Aborted when the caller is gone or has cancelled. */
  readonly signal: AbortSignal;
}

export interface WorkerMethod {
  /** Of its parameters, which are positional and all there. */
  readonly types: readonly GoType<unknown>[];
  run(call: CallContext, params: readonly unknown[]): unknown;
}

type Values<T extends readonly GoType<unknown>[]> = {
  readonly [K in keyof T]: T[K] extends GoType<infer V> ? V : never;
};

/** A method of that many parameters of these types. */
export function method<const T extends readonly GoType<unknown>[]>(
  types: T,
  run: (call: CallContext, params: Values<T>) => unknown,
): WorkerMethod {
  return { types, run: (call, params) => run(call, params as Values<T>) };
}

/** A method of workers with storage, or of another phase: the miner does not call it on us. */
function unsupported(...types: readonly GoType<unknown>[]): WorkerMethod {
  return {
    types,
    run() {
      throw goError('method not supported');
    },
  };
}

const pieceInfos = slice(anything, '[]abi.PieceInfo');
const taskType = text('sealtasks.TaskType');
const storagePath = text('string');

/** The 37 methods of Lotus's worker API 1.7 (lotus, api/api_worker.go), by name. */
export function workerMethods(worker: LotusWorker): ReadonlyMap<string, WorkerMethod> {
  const methods: Readonly<Record<string, WorkerMethod>> = {
    Version: method([], () => WORKER_API_VERSION),
    TaskTypes: method([], ({ endpoint }) =>
      Object.fromEntries(endpoint.tasks.map((task) => [task, {}])),
    ),
    Paths: method([], () => []),
    Info: method([], ({ endpoint }) => worker.info(endpoint)),
    Session: method([], ({ endpoint }) => endpoint.beat()),
    ProcessSession: method([], ({ endpoint }) => endpoint.session),
    Enabled: method([], ({ endpoint }) => endpoint.enabled),
    SetEnabled: method([boolean()], ({ endpoint }, [enabled]) => {
      endpoint.enabled = enabled;
    }),
    TaskEnable: method([taskType], ({ endpoint }, [task]) => endpoint.setTask(task, true)),
    TaskDisable: method([taskType], ({ endpoint }, [task]) => endpoint.setTask(task, false)),
    WaitQuiet: method([], ({ signal }) => worker.quiet(signal)),
    Remove: method([sectorId], () => {}),
    StorageLocal: method([], () => ({})),
    StorageDetachAll: method([], () => {}),
    // The service has other clients, too: only this worker leaves its miner.
    Shutdown: method([], ({ endpoint }) => {
      endpoint.enabled = false;
    }),
    SealCommit2: method([sectorRef, bytes('storiface.Commit1Out')], (_, [sector, c1]) =>
      worker.sealCommit2(sector, c1),
    ),
    ProveReplicaUpdate2: method(
      [sectorRef, cid, cid, cid, slice(bytes('[]uint8'), 'storiface.ReplicaVanillaProofs')],
      (_, [sector, old, sealed, unsealed, vanilla]) =>
        worker.proveReplicaUpdate2(sector, { old, new: sealed, data: unsealed }, vanilla),
    ),
    GenerateWinningPoSt: method(
      [postProof, actorId, challenges, randomness],
      ({ signal }, [proofType, minerId, sectors, random]) =>
        worker.winningPost({ proofType, minerId, sectors }, random, signal),
    ),
    GenerateWindowPoSt: method(
      [postProof, actorId, challenges, uint64('int'), randomness],
      ({ signal }, [proofType, minerId, sectors, partition, random]) =>
        worker.windowPost({ proofType, minerId, sectors, partition }, random, signal),
    ),
    DataCid: unsupported(uint64('abi.UnpaddedPieceSize'), anything),
    AddPiece: unsupported(sectorRef, anything, uint64('abi.UnpaddedPieceSize'), anything),
    SealPreCommit1: unsupported(sectorRef, bytes('abi.SealRandomness'), pieceInfos),
    SealPreCommit2: unsupported(sectorRef, bytes('storiface.PreCommit1Out')),
    SealCommit1: unsupported(
      ...[sectorRef, bytes('abi.SealRandomness'), bytes('abi.InteractiveSealRandomness')],
      ...[pieceInfos, anything],
    ),
    FinalizeSector: unsupported(sectorRef),
    FinalizeReplicaUpdate: unsupported(sectorRef),
    ReplicaUpdate: unsupported(sectorRef, pieceInfos),
    ProveReplicaUpdate1: unsupported(sectorRef, cid, cid, cid),
    GenerateSectorKeyFromData: unsupported(sectorRef, cid),
    ReleaseUnsealed: unsupported(sectorRef, slice(anything, '[]storiface.Range')),
    MoveStorage: unsupported(sectorRef, uint64('storiface.SectorFileType')),
    UnsealPiece: unsupported(sectorRef, anything, anything, anything, anything),
    Fetch: unsupported(sectorRef, anything, anything, anything),
    DownloadSectorData: unsupported(sectorRef, boolean(), anything),
    StorageAddLocal: unsupported(storagePath),
    StorageDetachLocal: unsupported(storagePath),
    StorageRedeclareLocal: unsupported(anything, boolean()),
  };
  return new Map(Object.entries(methods).map(([name, each]) => [`Filecoin.${name}`, each]));
}

/** 1.7.0: the miner compares major and minor (lotus, api/version.go). */
export const WORKER_API_VERSION = 0x010700;

const postProof = uint64('abi.RegisteredPoStProof');
const actorId = uint64('abi.ActorID');
const challenges = slice(postSector);
const randomness = bytes('abi.PoStRandomness');
