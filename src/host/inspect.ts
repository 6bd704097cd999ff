import { stat } from 'node:fs/promises';
import { openKey } from '../formats/key-file.ts';
import type { PointQuery } from '../groth16/types.ts';
import { digestsOfFile } from './digest.ts';
import { NO_CONTRIBUTIONS, readKeyMetadata } from './key-metadata.ts';
import type { LoadedKeys } from './loaded-keys.ts';
import type { CheckKeyParams, InspectedKey } from './protocol.ts';
import type { Call } from './server.ts';

/** Reads a key's header and verifying key and hashes the file. @throws ERR_FORMAT, ERR_FILE */
export async function inspectKey(keyPath: string, call: Call): Promise<InspectedKey> {
  const { key, contributions } = await openKey(keyPath);
  const { sha256, blake2b, pieces } = await digestsOfFile(keyPath, call.signal, call.progress);
  const metadata = await readKeyMetadata(keyPath, sha256);
  const insecure = metadata?.insecure ?? (contributions === 0 ? NO_CONTRIBUTIONS : undefined);
  const queries = { h: key.h, l: key.l, a: key.a, bG1: key.bG1, bG2: key.bG2 };
  return {
    digest: sha256,
    blake2b,
    pieces,
    bytes: (await stat(keyPath)).size,
    format: key.format,
    curve: key.curve,
    publicCount: key.inputCount - 1,
    logN: key.logN,
    pointCount: Object.values(queries).reduce((sum, { count }) => sum + count, 0),
    parts: Object.entries(queries).map(([name, { slice }]: [string, PointQuery]) => ({
      name,
      offset: slice.offset,
      length: slice.length,
    })),
    ...(insecure !== undefined && { insecure }),
  };
}

/** Checks that each point of a key is on its curve and in its group. @throws ERR_FORMAT */
export async function checkKey(params: CheckKeyParams, keys: LoadedKeys, call: Call) {
  await keys.check(params, {
    signal: call.signal,
    stage() {},
    progress: (share) => call.progress(share),
  });
  return {};
}
