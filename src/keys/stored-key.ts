import { z } from 'zod';

/**
 * Why the points of a key are taken to lie on their curve and in their group, or that they are not.
 */
export const POINT_CHECKS = ['checked', 'official file', 'trusted digest', 'not checked'] as const;
export type PointCheck = (typeof POINT_CHECKS)[number];

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
  insecure: z.string().optional(),
  importedAt: z.iso.datetime(),
  /** The file that was imported, by its absolute path. */
  source: z.strictObject({ path: z.string(), modifiedMs: z.number(), inode: z.number() }),
  /** The source is the key's file; else a copy of it is. */
  linked: z.boolean(),
  /** When the key's file last changed: one that has changed since may be another. */
  modifiedMs: z.number(),
  /** The whole file, in order. */
  pieces: z.array(
    z.strictObject({ part: z.string(), offset: z.int(), length: z.int(), crc32: z.int() }),
  ),
  /** What the last verification found wrong. */
  damage: z.string().optional(),
});
export type KeyRecord = z.output<typeof KeyRecord>;

/**
 * What the service knows of a stored key; its `damage` is also what the file's size and time say.
 */
export interface KeyInfo extends KeyRecord {
  /** Its first name, or the beginning of its digest. */
  readonly name: string;
  readonly names: readonly string[];
  readonly path: string;
}

export interface KeyCatalog {
  /** By name, also those that are damaged. */
  list(): Promise<readonly KeyInfo[]>;
  /**
   * By name, digest, or the unique beginning of one.
   * @throws ERR_KEY_UNKNOWN, ERR_KEY_DAMAGED where the file is not what was imported, ERR_STORAGE
   */
  resolve(nameOrDigest: string): Promise<KeyInfo>;
}
