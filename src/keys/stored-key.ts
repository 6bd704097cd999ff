import { z } from 'zod';

/**
 * Why the points of a key are taken to lie on their curve and in their group, or that they are not.
 */
export const POINT_CHECKS = ['checked', 'official file', 'trusted digest', 'not checked'] as const;

/** What lies beside a stored key, in `meta.json`. */
export const KeyRecord = z.strictObject({
  version: z.literal(1),
  /** SHA-256 of the file, hex. */
  digest: z.string().regex(/^[0-9a-f]{64}$/),
  format: z.enum(['zkey', 'bellman']),
  curve: z.enum(['bn254', 'bls12-381']),
  bytes: z.int().positive(),
  publicCount: z.int().nonnegative(),
  logN: z.int().nonnegative(),
  pointCount: z.int().nonnegative(),
  points: z.enum(POINT_CHECKS),
  /** What the key proves, where that is known. */
  circuit: z.string().optional(),
  /** Name of the file that was imported. */
  origin: z.string(),
  insecure: z.string().optional(),
  importedAt: z.iso.datetime(),
  /** Absolute path of a key that was linked, not copied. */
  link: z.string().optional(),
  /** When the file last changed: one that has changed since is not the imported one. */
  modifiedMs: z.number(),
  /** SHA-256 of each 64 MiB, hex. */
  pieces: z.array(z.string()),
  /** Where the queries lie in the file. */
  parts: z.array(z.strictObject({ name: z.string(), offset: z.int(), length: z.int() })),
});
export type KeyRecord = z.output<typeof KeyRecord>;

/** What the service knows of a stored key. */
export interface KeyInfo extends KeyRecord {
  /** Its first name, or the beginning of its digest. */
  readonly name: string;
  readonly names: readonly string[];
  readonly path: string;
}

export interface KeyCatalog {
  /** By name. */
  list(): Promise<readonly KeyInfo[]>;
  /** @throws ERR_KEY_UNKNOWN, ERR_KEY_DAMAGED where the file is not what was imported */
  resolve(nameOrDigest: string): Promise<KeyInfo>;
}
