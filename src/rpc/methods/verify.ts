import { z } from '@hono/zod-openapi';
import { ProverError } from '../../core/errors.ts';
import type { VerifyRequest } from '../../jobs/service.ts';
import { defineMethod } from '../method.ts';
import { ForeignJson, KeyName, ProofHex, Strings } from '../schemas.ts';

export const VerifyParams = z
  .strictObject({
    key: KeyName.optional(),
    verification_key: ForeignJson.optional().describe(
      "snarkjs's verification key, instead of a stored key",
    ),
    proof: z
      .union([ForeignJson, ProofHex], { error: "expected snarkjs's JSON, or hex" })
      .describe("Proof in snarkjs's form or, of a statement, hex of 192 bytes for each partition"),
    public: Strings.optional().describe('Public inputs, decimal'),
    statement: ForeignJson.optional().describe(
      'What a proof of Filecoin proves, instead of public inputs; default key: the one that fits',
    ),
  })
  .openapi('VerifyParams');

export const VerifyResult = z
  .object({ valid: z.boolean(), reason: z.string().optional().describe('Why it is not valid') })
  .openapi('VerifyResult');

export const verify = defineMethod({
  summary: 'Check a proof against a stored key or a verification key',
  scope: 'read',
  params: VerifyParams,
  result: VerifyResult,
  errors: ['ERR_KEY_UNKNOWN', 'ERR_KEY_DAMAGED', 'ERR_FORMAT', 'ERR_HOST_CRASHED'],
  run: (params, call) => call.services.jobs.verify(requestOf(params), call.signal),
});

function requestOf(params: z.output<typeof VerifyParams>): VerifyRequest {
  const { key, verification_key, proof, public: inputs, statement } = params;
  const named = key === undefined ? {} : { key };
  if (statement !== undefined) {
    if (verification_key !== undefined || inputs !== undefined) {
      throw wrong('params', 'either a statement, or public inputs and their key', 'both');
    }
    if (typeof proof !== 'string') throw wrong('params.proof', 'hex for a statement', 'an object');
    return { ...named, statement, proof };
  }
  if (inputs === undefined)
    throw wrong('params.public', 'public inputs, or a statement', 'nothing');
  if ((key === undefined) === (verification_key === undefined)) {
    const actual = key === undefined ? 'neither' : 'both';
    throw wrong('params', 'exactly one of key and verification_key', actual);
  }
  if (verification_key === undefined) return { ...named, proof, public: inputs };
  return { verificationKey: verification_key, proof, public: inputs };
}

function wrong(subject: string, expected: string, actual: string): ProverError {
  return new ProverError('ERR_PARAMS', { subject, expected, actual });
}
