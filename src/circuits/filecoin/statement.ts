import type { RegisteredProof } from './registered-proof.ts';

/**
 * What is proved, in the chain's own terms. Commitments are scalars; ids, tickets and randomness
 * are 32 bytes.
 */
export type Statement = PorepStatement | PostStatement | SnapDealsStatement;

export interface PorepStatement {
  readonly kind: 'porep';
  readonly proof: RegisteredProof;
  readonly porepId: Uint8Array;
  readonly proverId: Uint8Array;
  readonly sector: bigint;
  readonly ticket: Uint8Array;
  readonly seed: Uint8Array;
  readonly commR: bigint;
  readonly commD: bigint;
}

export interface PostStatement {
  readonly kind: 'window-post' | 'winning-post';
  readonly proof: RegisteredProof;
  readonly randomness: Uint8Array;
  /** By ascending number; one for WinningPoSt. */
  readonly sectors: readonly { readonly number: bigint; readonly commR: bigint }[];
}

export interface SnapDealsStatement {
  readonly kind: 'snap-deals';
  readonly proof: RegisteredProof;
  readonly commROld: bigint;
  readonly commRNew: bigint;
  readonly commDNew: bigint;
}
