import { ProverError, toProverError } from '../../core/errors.ts';
import { MIB } from '../../core/units.ts';
import type { PayloadStore } from '../../jobs/payloads.ts';
import type { PostSector, SectorId } from './go-values.ts';
import { type MinerApi, MinerError } from './miner-api.ts';

/** Requests to a miner's sector store at once. */
const AT_ONCE = 16;
/** A WinningPoSt of 64 GiB takes 0.3 MB. */
const VANILLA_BYTES_MAX = 4 * MIB;
/** Challenges are read from disks that may sleep. */
const READ_MS_MAX = 120_000;
/** Of storiface.SectorFileType: what a sector's proof is read from. */
const SEALED_AND_CACHE = 2 | 4;
const UPDATE_AND_CACHE = 8 | 16;

/** Vanilla proofs of the challenged sectors. */
export interface Vanilla {
  /** Sectors that were read, each with the digest of its stored proof. */
  readonly read: readonly { readonly sector: PostSector; readonly sha256: string }[];
  /** Sectors that no store of the miner could read. */
  readonly skipped: readonly SectorId[];
}

/**
 * Fetches the sectors' vanilla proofs from where the miner says that they are, as a worker without
 * storage does: `POST <base>/vanilla/single`. @throws ERR_UNREACHABLE for the miner, ERR_STORAGE
 */
export async function fetchVanilla(
  { miner, payloads }: { readonly miner: MinerApi; readonly payloads: PayloadStore },
  { minerId, proofType, sectors }: PostTask,
  signal: AbortSignal,
): Promise<Vanilla> {
  const found: (string | undefined)[] = [];
  let next = 0;
  const reader = async (): Promise<void> => {
    while (next < sectors.length) {
      const i = next++;
      const sector = sectors[i] as PostSector;
      signal.throwIfAborted();
      const body = JSON.stringify({ Miner: minerId, Sector: sector, ProofType: proofType });
      found[i] = await fetchSector(miner, payloads, { minerId, sector, body }, signal);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, reader));
  const withProof = sectors.map((sector, i) => ({ sector, sha256: found[i] }));
  return {
    read: withProof.filter(
      (each): each is { sector: PostSector; sha256: string } => each.sha256 !== undefined,
    ),
    skipped: withProof
      .filter(({ sha256 }) => sha256 === undefined)
      .map(({ sector }) => ({ Miner: minerId, Number: sector.SectorNumber })),
  };
}

export interface PostTask {
  readonly minerId: number;
  /** Of the proof of spacetime. */
  readonly proofType: number;
  readonly sectors: readonly PostSector[];
}

interface SectorRequest {
  readonly minerId: number;
  readonly sector: PostSector;
  readonly body: string;
}

/** The digest of the sector's proof; undefined: it cannot be read. */
async function fetchSector(
  miner: MinerApi,
  payloads: PayloadStore,
  { minerId, sector, body }: SectorRequest,
  signal: AbortSignal,
): Promise<string | undefined> {
  for (const base of await placesOf(miner, minerId, sector, signal)) {
    try {
      return await fetchProof(`${base}/vanilla/single`, miner.info.token, body, payloads, signal);
    } catch (thrown) {
      if (toProverError(thrown).code === 'ERR_STORAGE') throw thrown;
      signal.throwIfAborted();
    }
  }
  return undefined;
}

/** Of storiface.SectorStorageInfo, if the miner keeps to it. */
interface Store {
  readonly BaseURLs?: unknown;
}

async function placesOf(
  miner: MinerApi,
  minerId: number,
  sector: PostSector,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const id = { Miner: minerId, Number: sector.SectorNumber };
  const files = sector.Update ? UPDATE_AND_CACHE : SEALED_AND_CACHE;
  try {
    const stores = await miner.call('StorageFindSector', [id, files, 0, false], signal);
    if (!Array.isArray(stores)) return [];
    const urls = stores.flatMap((store: Store | null) => store?.BaseURLs ?? []);
    return urls.filter((url): url is string => typeof url === 'string' && /^https?:/.test(url));
  } catch (thrown) {
    if (thrown instanceof MinerError) return [];
    throw thrown;
  }
}

async function fetchProof(
  url: string,
  token: string | undefined,
  body: string,
  payloads: PayloadStore,
  signal: AbortSignal,
): Promise<string> {
  const answer = await fetch(url, {
    method: 'POST',
    body,
    redirect: 'error',
    signal: AbortSignal.any([signal, AbortSignal.timeout(READ_MS_MAX)]),
    headers: {
      'content-type': 'application/json',
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
  });
  if (answer.status !== 200 || answer.body === null) {
    await answer.body?.cancel();
    throw new ProverError('ERR_UNREACHABLE', { url, reason: `HTTP ${answer.status}` });
  }
  const { sha256, bytes } = await payloads.put(answer.body, VANILLA_BYTES_MAX);
  if (bytes > 0) return sha256;
  throw new ProverError('ERR_UNREACHABLE', { url, reason: 'an empty answer' });
}
