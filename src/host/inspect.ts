import { stat } from 'node:fs/promises';
import { openKey } from '../formats/key-file.ts';
import { digestFile } from './digest.ts';
import { NO_CONTRIBUTIONS, readKeyMetadata } from './key-metadata.ts';
import type { InspectedKey } from './protocol.ts';

/** Reads a key's header and verifying key and hashes the file. @throws ERR_FORMAT, ERR_FILE */
export async function inspectKey(keyPath: string, signal: AbortSignal): Promise<InspectedKey> {
  const { key, contributions } = await openKey(keyPath);
  const digest = await digestFile(keyPath, signal);
  const metadata = await readKeyMetadata(keyPath, digest);
  const insecure = metadata?.insecure ?? (contributions === 0 ? NO_CONTRIBUTIONS : undefined);
  return {
    digest,
    bytes: (await stat(keyPath)).size,
    format: key.format,
    curve: key.curve,
    publicCount: key.inputCount - 1,
    logN: key.logN,
    ...(insecure !== undefined && { insecure }),
  };
}
