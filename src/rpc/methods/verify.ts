import { z } from '@hono/zod-openapi';
import { defineMethod } from '../method.ts';
import { ForeignJson, KeyName, Strings } from '../schemas.ts';

export const VerifyParams = z
  .strictObject({
    key: KeyName.optional(),
    verification_key: ForeignJson.optional().describe(
      "snarkjs's verification key, instead of a stored key",
    ),
    proof: ForeignJson.describe("Proof in snarkjs's form"),
    public: Strings.describe('Public inputs, decimal'),
  })
  .refine(
    ({ key, verification_key }) => (key === undefined) !== (verification_key === undefined),
    'expected exactly one of key and verification_key',
  )
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
  run: ({ key, verification_key, proof, public: inputs }, call) =>
    call.services.jobs.verify(
      {
        ...(key !== undefined && { key }),
        ...(verification_key !== undefined && { verificationKey: verification_key }),
        proof,
        public: inputs,
      },
      call.signal,
    ),
});
