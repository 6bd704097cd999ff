import { availableParallelism, hostname, totalmem } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { toHex } from '../../core/bytes.ts';
import { ProverError } from '../../core/errors.ts';
import type { FilecoinRequest } from '../../jobs/job.ts';
import type { PayloadStore } from '../../jobs/payloads.ts';
import type { JobService } from '../../jobs/service.ts';
import { type Commitment, statementOf } from '../filecoin-statement.ts';
import type { WorkerCalls } from './calls.ts';
import { ROLES, type WorkerEndpoint } from './endpoint.ts';
import { goError } from './envelope.ts';
import type { GoBytes, SectorId, sectorRef } from './go-values.ts';
import type { MinerApi } from './miner-api.ts';
import { fetchVanilla, type PostTask } from './post.ts';
import { proofOf, submitPatiently } from './proofs.ts';
import { NON_INTERACTIVE_FIRST, SEAL_TYPES, SIZES, sealRequest } from './seal.ts';
import { stored } from './stored-bytes.ts';

type SectorRef = ReturnType<typeof sectorRef.decode>;

/** WindowPoSt before network version 19. */
const WINDOW_V1_FIRST = 5;
/** More memory than any machine has: what a miner never schedules here. */
const UNAVAILABLE_BYTES = 2 ** 60;
const QUIET_POLL_MS = 100;

/** The miner that the worker belongs to. */
export interface Miner {
  readonly api: MinerApi;
  readonly calls: WorkerCalls;
}

export interface LotusWorkerOptions {
  readonly jobs: JobService;
  readonly payloads: PayloadStore;
  /** Absent: results cannot be returned, and calls that need it are refused. */
  readonly miner?: Miner;
  /** Tasks that a miner may have here at once. */
  readonly parallel: number;
}

/** What Lotus's sealing manager asks of a worker that only proves. */
export class LotusWorker {
  readonly #options: LotusWorkerOptions;
  /** Calls that are answered by their result. */
  #running = 0;

  constructor(options: LotusWorkerOptions) {
    this.#options = options;
  }

  /** storiface.WorkerInfo; its figures are those of the registration for as long as that lasts. */
  info({ role }: WorkerEndpoint) {
    const { jobs } = this.#options;
    const gpus = jobs.hosts().filter(({ backend, available }) => backend === 'cuda' && available);
    const tables = ROLES[role].tasks.map((task) => [task, this.#resources(task)]);
    return {
      Hostname: hostname(),
      IgnoreResources: false,
      Resources: {
        MemPhysical: totalmem(),
        // Proving keeps to the memory there is; what others use changes after this was asked.
        ...{ MemUsed: 0, MemSwap: 0, MemSwapUsed: 0 },
        CPUs: availableParallelism(),
        GPUs: gpus.map(({ deviceName }) => deviceName ?? 'GPU'),
        Resources: Object.fromEntries(tables),
      },
    };
  }

  /** A task needs nothing that the miner could count, except that few run at once. */
  #resources(task: string) {
    const { parallel } = this.#options;
    return Object.fromEntries(
      Array.from({ length: SEAL_TYPES }, (_, type) => {
        const aggregated = task === 'seal/v0/commit/2' && type >= NON_INTERACTIVE_FIRST;
        const memory = aggregated ? UNAVAILABLE_BYTES : 0;
        const figures = {
          ...{ MinMemory: memory, MaxMemory: memory, GPUUtilization: 0, MaxParallelism: 0 },
          ...{ MaxParallelismGPU: 0, BaseMinMemory: 0, MaxConcurrent: parallel },
        };
        return [String(type), figures];
      }),
    );
  }

  async sealCommit2({ ID, ProofType }: SectorRef, c1: GoBytes) {
    this.#miner();
    const request = await sealRequest(this.#options.payloads, { id: ID, proofType: ProofType }, c1);
    return this.#callBack(ID, 'ReturnSealCommit2', request);
  }

  async proveReplicaUpdate2(
    { ID, ProofType }: SectorRef,
    commitments: { readonly old: Commitment; readonly new: Commitment; readonly data: Commitment },
    vanilla: readonly GoBytes[],
  ) {
    this.#miner();
    if (ProofType >= SEAL_TYPES) throw goError(`unknown seal proof type ${ProofType}`);
    const { payloads } = this.#options;
    const digests: string[] = [];
    for (const proof of vanilla) digests.push((await stored(payloads, proof)).sha256);
    // The update's type is that of the sector's size.
    const statement = statementOf.snapDeals(ProofType % SIZES, commitments);
    const { sha256 } = await stored(payloads, { bytes: statement });
    return this.#callBack(ID, 'ReturnProveReplicaUpdate2', {
      kind: 'snap-deals',
      statement: sha256,
      vanilla: digests,
      label: `snap-${ID.Miner}-${ID.Number}`,
    });
  }

  async winningPost(task: PostTask, randomness: GoBytes, signal: AbortSignal) {
    const sector = task.sectors[0]?.SectorNumber ?? 0;
    const label = `winpost-${task.minerId}-${sector}`;
    const proof = await this.#post('winning-post', { ...task, label }, randomness, signal);
    if ('skipped' in proof) throw goError('cannot read the challenged sector');
    return [proof];
  }

  async windowPost(
    task: PostTask & { readonly partition: number },
    randomness: GoBytes,
    signal: AbortSignal,
  ) {
    const countsOn = task.proofType >= WINDOW_V1_FIRST && task.proofType < WINDOW_V1_FIRST + SIZES;
    if (countsOn && task.partition > 0) {
      throw goError(
        `window proof type ${task.proofType} counts challenges from partition to partition: expected type ${task.proofType + SIZES}`,
      );
    }
    const label = `wdpost-${task.minerId}-${task.partition}`;
    const result = await this.#post('window-post', { ...task, label }, randomness, signal);
    if ('skipped' in result) {
      return { PoStProofs: { PoStProof: 0, ProofBytes: null }, Skipped: result.skipped };
    }
    return { PoStProofs: result, Skipped: null };
  }

  /** Resolves once nothing is being proved for a miner. */
  async quiet(signal: AbortSignal): Promise<void> {
    while (this.#running > 0 || (this.#options.miner?.calls.pending ?? 0) > 0) {
      await sleep(QUIET_POLL_MS, undefined, { signal });
    }
  }

  #callBack({ Miner, Number: sector }: SectorId, returnMethod: string, request: FilecoinRequest) {
    const id = this.#miner().calls.begin({ miner: Miner, sector, returnMethod, request });
    return { Sector: { Miner, Number: sector }, ID: id };
  }

  async #post(
    kind: 'window-post' | 'winning-post',
    { label, ...task }: PostTask & { readonly label: string },
    randomness: GoBytes,
    signal: AbortSignal,
  ) {
    const { jobs, payloads } = this.#options;
    this.#running++;
    try {
      const { read, skipped } = await fetchVanilla(
        { miner: this.#miner().api, payloads },
        task,
        signal,
      );
      if (skipped.length > 0) return { skipped };
      const sectors = read.map(({ sector }) => ({
        number: sector.SectorNumber,
        commR: sector.SealedCID,
      }));
      const random = toHex('bytes' in randomness ? randomness.bytes : new Uint8Array(0));
      const statement = statementOf.post(kind, task.proofType, random, sectors);
      const { sha256 } = await stored(payloads, { bytes: statement });
      const vanilla = read.map((each) => each.sha256);
      const request: FilecoinRequest = { kind, statement: sha256, vanilla, label };
      const { id } = await submitPatiently(jobs, request, signal);
      const stop = () => void jobs.cancel(id);
      if (signal.aborted) stop();
      signal.addEventListener('abort', stop, { once: true });
      const proof = await proofOf(jobs, id, signal);
      signal.removeEventListener('abort', stop);
      return { PoStProof: task.proofType, ProofBytes: proof.toString('base64') };
    } finally {
      this.#running--;
    }
  }

  #miner(): Miner {
    const { miner } = this.#options;
    if (miner !== undefined) return miner;
    const expected = 'a miner to return results to (PROOFLINE_MINER_API)';
    throw new ProverError('ERR_PARAMS', { subject: 'worker', expected, actual: 'none' });
  }
}
