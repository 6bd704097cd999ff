import { writeFile } from 'node:fs/promises';
import { z } from 'zod';
import { readSmallFile } from '../core/small-file.ts';
import { KIB } from '../core/units.ts';

/**
 * What lies beside a key that `setup` made, in `KEYFILE.meta.json`: the key formats have no room
 * for it.
 */
const KeyMetadata = z.object({
  /** SHA-256 of the key this file speaks of, hex. */
  digest: z.string(),
  /** Why the key must not be used in production. */
  insecure: z.string(),
  origin: z.string(),
  /** What the key proves, as keys are labelled with it. */
  circuit: z.string().optional(),
});
export type KeyMetadata = z.infer<typeof KeyMetadata>;

const METADATA_BYTES_MAX = 64 * KIB;
const ONE_PARTY_KNOWS = 'whoever made this key knows its secrets and can forge proofs';

export const DEVELOPMENT_KEY = `development setup: ${ONE_PARTY_KNOWS}`;
export const NO_CONTRIBUTIONS = `no contribution to its ceremony: ${ONE_PARTY_KNOWS}`;

export async function writeKeyMetadata(keyPath: string, metadata: KeyMetadata): Promise<void> {
  await writeFile(metadataPath(keyPath), `${JSON.stringify(metadata, null, 2)}\n`);
}

/** Undefined where there is none, or where it speaks of another file. */
export async function readKeyMetadata(
  keyPath: string,
  digest: string,
): Promise<KeyMetadata | undefined> {
  try {
    const text = readSmallFile(metadataPath(keyPath), METADATA_BYTES_MAX).toString();
    const { success, data } = KeyMetadata.safeParse(JSON.parse(text));
    return success && data.digest === digest ? data : undefined;
  } catch {
    return undefined;
  }
}

function metadataPath(keyPath: string): string {
  return `${keyPath}.meta.json`;
}
