import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Run } from '../backend/backend.ts';
import { equalBytes } from '../core/bytes.ts';
import { formatError } from '../core/errors.ts';
import { openFile } from '../core/source.ts';
import { verifyingKeyPath } from '../formats/bellman.ts';
import { openKey } from '../formats/key-file.ts';
import type { ProvingKeySource } from '../groth16/types.ts';
import { digestsOfFile } from './digest.ts';
import { NO_CONTRIBUTIONS, readKeyMetadata } from './key-metadata.ts';
import { piecesOf } from './key-pieces.ts';
import type { LoadedKeys } from './loaded-keys.ts';
import type {
  CheckKeyParams,
  DigestKeyParams,
  DigestKeyResult,
  InspectedKey,
  LoadKeyParams,
} from './protocol.ts';
import type { Call } from './server.ts';

/** Bytes of the verifying key's counts and points before ic, in bellman parameters. */
const BELLMAN_COUNT_BYTES = 4;

/** Reads a key's header and verifying key and hashes the file. @throws ERR_FORMAT, ERR_FILE */
export async function inspectKey(keyPath: string, call: Call): Promise<InspectedKey> {
  const { key, contributions } = await openKey(keyPath);
  if (key.format === 'bellman') await compareVerifyingKey(keyPath, key);
  const { size: bytes } = await stat(keyPath);
  const pieces = piecesOf(key, bytes);
  const ends = pieces.map(({ offset, length }) => offset + length);
  const { sha256, blake2b, crcs } = await digestsOfFile(keyPath, ends, call.signal, call.progress);
  const metadata = await readKeyMetadata(keyPath, sha256);
  const insecure = metadata?.insecure ?? (contributions === 0 ? NO_CONTRIBUTIONS : undefined);
  return {
    digest: sha256,
    blake2b,
    pieces: pieces.map((piece, i) => ({ ...piece, crc32: crcs[i] as number })),
    bytes,
    format: key.format,
    curve: key.curve,
    publicCount: key.inputCount - 1,
    logN: key.logN,
    pointCount: [key.h, key.l, key.a, key.bG1, key.bG2].reduce((sum, { count }) => sum + count, 0),
    ...(insecure !== undefined && { insecure }),
    ...(metadata?.circuit !== undefined && { circuit: metadata.circuit }),
  };
}

/** Hashes a file as `inspectKey` does, whatever it holds. @throws ERR_FILE */
export async function digestKey(params: DigestKeyParams, call: Call): Promise<DigestKeyResult> {
  const { keyPath, ends } = params;
  const { sha256, crcs } = await digestsOfFile(keyPath, ends, call.signal, call.progress);
  return { digest: sha256, crcs };
}

/** Checks that each point of a key is on its curve and in its group. @throws ERR_FORMAT */
export async function checkKey(params: CheckKeyParams, keys: LoadedKeys, call: Call) {
  await keys.check(params, runOf(call));
  return {};
}

/** Loads a key as a proof would. @throws ERR_FORMAT */
export async function loadKey(params: LoadKeyParams, keys: LoadedKeys, call: Call) {
  await keys.load(params, runOf(call));
  return {};
}

function runOf(call: Call): Run {
  return { signal: call.signal, stage() {}, progress: (share) => call.progress(share) };
}

/**
 * A `.vk` beside parameters, as in Filecoin's cache, is the head of their file. @throws ERR_FORMAT
 */
async function compareVerifyingKey(keyPath: string, { h }: ProvingKeySource): Promise<void> {
  const vkPath = verifyingKeyPath(keyPath);
  const beside = await stat(vkPath).catch(() => undefined);
  if (beside?.isFile() !== true) return;
  await using vk = await openFile(vkPath);
  await using parameters = await openFile(keyPath);
  const headBytes = h.slice.offset - BELLMAN_COUNT_BYTES;
  const same =
    vk.size === headBytes &&
    equalBytes(await vk.read(0, headBytes), await parameters.read(0, headBytes));
  if (same) return;
  throw formatError(vk.name, `the verifying key of ${basename(keyPath)}`, 'another one');
}
