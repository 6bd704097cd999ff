import type { CurveName } from '../math/curve.ts';

/** What the service knows of a stored key. */
export interface KeyInfo {
  readonly name: string;
  /** SHA-256 of the file, hex. */
  readonly digest: string;
  readonly format: 'zkey' | 'bellman';
  readonly curve: CurveName;
  readonly bytes: number;
  readonly publicCount: number;
  readonly logN: number;
  /** Why the key must not be used in production, or absent. */
  readonly insecure?: string;
}

export interface KeyCatalog {
  list(): Promise<readonly KeyInfo[]>;
  /** @throws ERR_KEY_UNKNOWN */
  resolve(nameOrDigest: string): Promise<KeyInfo>;
}
