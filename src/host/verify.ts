import { createHash } from 'node:crypto';
import { partitionsOf, publicInputsOf } from '../circuits/filecoin/public-inputs.ts';
import type { Statement } from '../circuits/filecoin/statement.ts';
import { fromHex, writeBigIntLE } from '../core/bytes.ts';
import { formatError } from '../core/errors.ts';
import { openFile } from '../core/source.ts';
import { isVerifyingKey, readProofs, readVerifyingKey } from '../formats/bellman.ts';
import { openKey } from '../formats/key-file.ts';
import { officialByVerifyingKey } from '../formats/official-keys.ts';
import {
  parsePublicInputs,
  parseSnarkjsProof,
  parseVerificationKey,
  type SnarkjsVerificationKey,
  writeVerificationKey,
} from '../formats/snarkjs-json.ts';
import { parseStatement } from '../formats/statement.ts';
import type { VerifyingKey } from '../groth16/types.ts';
import type { Verdict } from '../groth16/verify.ts';
import type { FrCanonicalLE } from '../math/curve.ts';
import { verifyProof } from './native-verify.ts';
import type {
  VerifyInputsParams,
  VerifyParams,
  VerifyResult,
  VerifyStatementParams,
} from './protocol.ts';

/**
 * @throws ERR_FORMAT for what cannot be a proof of the key at all: bad input rather than a false
 * proof
 */
export function verify(params: VerifyParams, signal: AbortSignal): Promise<VerifyResult> {
  return 'statement' in params ? verifyStatement(params, signal) : verifyInputs(params, signal);
}

async function verifyInputs(
  params: VerifyInputsParams,
  signal: AbortSignal,
): Promise<VerifyResult> {
  const key =
    params.keyPath === undefined
      ? parseVerificationKey(params.verificationKey)
      : (await openKey(params.keyPath)).key.verifyingKey;
  const proof = parseSnarkjsProof(params.proof, key.curve);
  const inputs = parsePublicInputs(params.public, key.curve);
  return resultOf(await verifyProof(key, inputs, proof, signal));
}

/** All partitions of a proof of Filecoin, as the chain does it: from what it knows itself. */
async function verifyStatement(
  params: VerifyStatementParams,
  signal: AbortSignal,
): Promise<VerifyResult> {
  const statement = parseStatement(params.statement);
  const proofs = readProofs('proof', fromHex('proof', params.proof), partitionsOf(statement));
  const key = await verifyingKeyOf(params, statement);
  for (const [partition, proof] of proofs.entries()) {
    const inputs = publicInputsOf(statement, partition);
    if (inputs.length + 1 !== key.ic.length) {
      const expected = `one of ${nameOf(statement)}, ${inputs.length} public inputs`;
      throw formatError('verifying key', expected, `one of ${key.ic.length - 1}`);
    }
    const bytes = inputs.map((value) => writeBigIntLE(value, 32) as FrCanonicalLE);
    const result = resultOf(await verifyProof(key, bytes, proof, signal));
    if (!result.valid) return { ...result, reason: `partition ${partition}: ${result.reason}` };
  }
  return { valid: true };
}

function resultOf(verdict: Verdict): VerifyResult {
  if (verdict.valid) return { valid: true };
  if (verdict.malformed !== undefined) throw verdict.malformed;
  return { valid: false, reason: verdict.reason };
}

/** Of a `.vk` file or of parameters. Published `.vk` files are known by their digest. */
async function verifyingKeyOf(
  { keyPath, keyChecked = false }: VerifyStatementParams,
  statement: Statement,
): Promise<VerifyingKey> {
  await using source = await openFile(keyPath);
  if (!(await isVerifyingKey(source))) {
    return (await openKey(keyPath, { trusted: keyChecked })).key.verifyingKey;
  }
  const bytes = await source.read(0, source.size);
  const blake2b = createHash('blake2b512').update(bytes).digest('hex').slice(0, 32);
  const official = officialByVerifyingKey(blake2b);
  if (official !== undefined) {
    const name = `${official.circuit} ${official.sectorSize}`;
    if (name !== nameOf(statement)) throw formatError(source.name, nameOf(statement), name);
  }
  return (await readVerifyingKey(source, { trusted: official !== undefined })).verifyingKey;
}

function nameOf({ kind, proof }: Statement): string {
  return `${kind} ${proof.sectorSize}`;
}

export async function verificationKeyOf(keyPath: string): Promise<SnarkjsVerificationKey> {
  return writeVerificationKey((await openKey(keyPath)).key.verifyingKey);
}
