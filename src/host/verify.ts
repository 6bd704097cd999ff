import { openKey } from '../formats/key-file.ts';
import {
  parsePublicInputs,
  parseSnarkjsProof,
  parseVerificationKey,
  type SnarkjsVerificationKey,
  writeVerificationKey,
} from '../formats/snarkjs-json.ts';
import { verify as verifyProof } from '../groth16/verify.ts';
import type { VerifyParams, VerifyResult } from './protocol.ts';

/**
 * @throws ERR_FORMAT for what cannot be a proof of the key at all: bad input rather than a false
 * proof
 */
export async function verify(params: VerifyParams, signal: AbortSignal): Promise<VerifyResult> {
  const key =
    params.keyPath === undefined
      ? parseVerificationKey(params.verificationKey)
      : (await openKey(params.keyPath)).key.verifyingKey;
  const proof = parseSnarkjsProof(params.proof, key.curve);
  const inputs = parsePublicInputs(params.public, key.curve);
  const verdict = await verifyProof(key, inputs, proof, signal);
  if (verdict.valid) return { valid: true };
  if (verdict.malformed !== undefined) throw verdict.malformed;
  return { valid: false, reason: verdict.reason };
}

export async function verificationKeyOf(keyPath: string): Promise<SnarkjsVerificationKey> {
  return writeVerificationKey((await openKey(keyPath)).key.verifyingKey);
}
