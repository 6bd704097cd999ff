import { setImmediate } from 'node:timers/promises';
import { toHex } from '../../core/bytes.ts';
import { formatError, ProverError } from '../../core/errors.ts';
import type { Priority } from '../../jobs/job.ts';
import { readC1Head } from '../c1-head.ts';
import { statementOf } from '../filecoin-statement.ts';
import { CUZK_KINDS } from './names.ts';
import { GrpcError, STATUS, type StoredSubmit, type SubmitProofRequest } from './wire.ts';

/** Longer names of proofs are refused. */
const REQUEST_ID_LENGTH_MAX = 1000;
/** More sectors than the chain has in a partition. */
const VANILLA_PROOFS_MAX = 10_000;
/** Of a message, read at once. */
const PIECE_BYTES = 2 ** 16;
/** go-state-types, abi/sector.go: RegisteredPoStProof, window V1. */
const WINDOW_V1 = { first: 5, last: 9 } as const;
const PRIORITIES: Readonly<Record<number, Priority>> = { 1: 'low', 3: 'high', 4: 'critical' };

/** What is to be stored of a request. */
export interface Submitted extends Omit<StoredSubmit, 'statement' | 'vanilla'> {
  readonly statement: Uint8Array;
  readonly vanilla: readonly Uint8Array[];
}

/**
 * The proof that a request asks for.
 * @throws GrpcError for a request that cuzk refuses, ERR_FORMAT for what it asks to prove
 */
export async function readSubmit(submit: SubmitProofRequest): Promise<Submitted> {
  const kind = CUZK_KINDS.find(({ number }) => number === submit.proof_kind)?.kind;
  if (kind === undefined) {
    throw new GrpcError(STATUS.invalidArgument, `invalid proof_kind: ${submit.proof_kind}`);
  }
  if (submit.request_id.length > REQUEST_ID_LENGTH_MAX) {
    const text = `request_id: expected at most ${REQUEST_ID_LENGTH_MAX} characters, got more`;
    throw new GrpcError(STATUS.invalidArgument, text);
  }
  const priority = priorityOf(submit.priority);
  return {
    requestId: submit.request_id,
    kind,
    ...(priority !== undefined && { priority }),
    ...(await PARTS[kind](submit)),
  };
}

/** By kind where none is asked for; a number that means nothing is `normal`. */
function priorityOf(number: number): Priority | undefined {
  return number === 0 ? undefined : (PRIORITIES[number] ?? 'normal');
}

type Parts = Pick<Submitted, 'statement' | 'vanilla'>;

const PARTS: Readonly<
  Record<Submitted['kind'], (submit: SubmitProofRequest) => Parts | Promise<Parts>>
> = {
  porep: porepParts,
  'snap-deals': snapDealsParts,
  'window-post': (submit) => postParts('window-post', submit),
  'winning-post': (submit) => postParts('winning-post', submit),
};

async function porepParts(submit: SubmitProofRequest): Promise<Parts> {
  const { vanilla_proof: c1, miner_id, sector_number } = submit;
  try {
    const head = await readC1Head(pieces(c1));
    const { registeredProof } = head;
    if (/NonInteractive|NiPoRep/.test(registeredProof)) {
      const expected = 'a proof that the chain takes as it is';
      throw formatError('registered_proof', expected, `${registeredProof}, which it aggregates`);
    }
    const sector = { registeredProof, minerId: BigInt(miner_id), sector: BigInt(sector_number) };
    return { statement: statementOf.porep(sector, head), vanilla: [c1] };
  } catch (thrown) {
    if (!(thrown instanceof ProverError)) throw thrown;
    throw new ProverError('ERR_FORMAT', {
      ...{ subject: 'C1 parse failed', expected: `${thrown.data.expected}` },
      actual: `${thrown.data.actual} (${thrown.data.subject})`,
    });
  }
}

/** Other calls have their turn between the pieces. */
async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    yield bytes.subarray(at, at + PIECE_BYTES);
    await setImmediate();
  }
}

function snapDealsParts(submit: SubmitProofRequest): Parts {
  const { comm_r_old, comm_r_new, comm_d_new } = submit;
  const commitments = {
    old: bytes32('comm_r_old', comm_r_old),
    new: bytes32('comm_r_new', comm_r_new),
    data: bytes32('comm_d_new', comm_d_new),
  };
  const statement = statementOf.snapDeals(Number(submit.registered_proof), commitments);
  return { statement, vanilla: vanillaOf(submit) };
}

/**
 * A proof of spacetime says its sectors in its vanilla proofs alone. Each is bincode's
 * `FallbackPoStSectorProof`, which begins with the sector's number, u64 little-endian, and its
 * CommR. The partition's number is the chain's business: a request has the sectors of one.
 */
function postParts(kind: 'window-post' | 'winning-post', submit: SubmitProofRequest): Parts {
  const { partition_index } = submit;
  const proof = Number(submit.registered_proof);
  // Until the grindability fix (V1_1), challenges depended on the partition's number.
  if (partition_index > 0 && proof >= WINDOW_V1.first && proof <= WINDOW_V1.last) {
    throw formatError('registered_proof', 'V1_1 beyond the first partition', proof);
  }
  const vanilla = vanillaOf(submit);
  const sectors = vanilla.map((bytes, i) => {
    if (bytes.length < 40) throw formatError(`vanilla_proofs[${i}]`, 'a sector proof', 'less');
    const view = new DataView(bytes.buffer, bytes.byteOffset, 40);
    return { number: view.getBigUint64(0, true), commR: toHex(bytes.subarray(8, 40)) };
  });
  const randomness = bytes32('randomness', submit.randomness);
  return { statement: statementOf.post(kind, proof, randomness, sectors), vanilla };
}

/** Where a single proof is given by the other field, as cuzk takes it, that is it. */
function vanillaOf({ vanilla_proofs, vanilla_proof }: SubmitProofRequest): readonly Uint8Array[] {
  const vanilla =
    vanilla_proofs.length === 0 && vanilla_proof.length > 0 ? [vanilla_proof] : vanilla_proofs;
  if (vanilla.length > 0 && vanilla.length <= VANILLA_PROOFS_MAX) return vanilla;
  throw formatError('vanilla_proofs', `1 to ${VANILLA_PROOFS_MAX}`, vanilla.length);
}

/** @returns hex */
function bytes32(name: string, bytes: Uint8Array): string {
  if (bytes.length === 32) return toHex(bytes);
  throw formatError(name, '32 bytes', `${bytes.length}`);
}
