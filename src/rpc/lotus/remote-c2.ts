import type { Context } from 'hono';
import { ProverError } from '../../core/errors.ts';
import type { PayloadStore } from '../../jobs/payloads.ts';
import type { JobService } from '../../jobs/service.ts';
import { bodyChunks, type Env } from '../body.ts';
import type { LotusAccess } from './auth.ts';
import { Base64Error } from './base64.ts';
import { parseBody } from './envelope.ts';
import { bytes, GoTypeError, sectorId, struct, uint64 } from './go-values.ts';
import { BODY_BYTES_MAX, BodyTooLargeError, readSpilling } from './json-spill.ts';
import { proofOf, submitJoining } from './proofs.ts';
import { sealRequest } from './seal.ts';
import { type StoredBytes, storeBytes } from './stored-bytes.ts';

/** storiface.RemoteCommit2Params */
const commit2 = struct('RemoteCommit2Params', {
  Sector: sectorId,
  ProofType: uint64('abi.RegisteredSealProof'),
  Commit1Out: bytes('storiface.Commit1Out'),
});

/**
 * What Lotus posts to a RemoteCommit2Endpoint, answered by the bytes of the proof. It sends no
 * header of authorization: the token is in the URL's query, and nothing writes URLs to the log. It
 * sends the same again after an error, and then joins the job that there is.
 */
export async function remoteCommit2(
  c: Context<Env>,
  { access, jobs, payloads }: RemoteCommit2Options,
): Promise<Response> {
  const permissions = await access.permissions(undefined, c.req.query('token'));
  if (permissions === undefined || !permissions.includes('write')) {
    const actual = c.req.query('token') === undefined ? 'none' : 'one that may not prove';
    throw new ProverError('ERR_UNAUTHORIZED', { actual });
  }
  const { Sector, ProofType, Commit1Out } = await readCommit2(c, payloads);
  const request = await sealRequest(payloads, { id: Sector, proofType: ProofType }, Commit1Out);
  const key = `commit2-${request.statement}-${request.vanilla.join('-')}`;
  const { id } = await submitJoining(jobs, request, key);
  const proof = await proofOf(jobs, id, c.req.raw.signal);
  return c.body(Uint8Array.from(proof), 200, { 'content-type': 'application/octet-stream' });
}

export interface RemoteCommit2Options {
  readonly access: LotusAccess;
  readonly jobs: JobService;
  readonly payloads: PayloadStore;
}

/** @throws ERR_PARAMS, ERR_TOO_LARGE */
async function readCommit2(c: Context<Env>, payloads: PayloadStore) {
  try {
    const body = await readSpilling<StoredBytes>(bodyChunks(c), {
      bytesMax: BODY_BYTES_MAX,
      spill: (chunks) => storeBytes(payloads, chunks, BODY_BYTES_MAX),
    });
    return commit2.decode(parseBody(body) ?? [], body.spilled);
  } catch (thrown) {
    if (thrown instanceof BodyTooLargeError) {
      throw new ProverError('ERR_TOO_LARGE', { subject: 'body', limit: BODY_BYTES_MAX });
    }
    if (!(thrown instanceof GoTypeError || thrown instanceof Base64Error)) throw thrown;
    const expected = 'JSON of Sector, ProofType and Commit1Out';
    throw new ProverError('ERR_PARAMS', { subject: 'body', expected, actual: 'something else' });
  }
}
