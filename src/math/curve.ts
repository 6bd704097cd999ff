import { bls12_381 } from '@noble/curves/bls12-381.js';
import { bn254 } from '@noble/curves/bn254.js';

/**
 * BN254: the curve of Ethereum's precompiles (EIP-196, EIP-197), called `bn128` by snarkjs and
 * `alt_bn128` elsewhere. BLS12-381: Zcash protocol specification 5.4.9.2, called `bls12381` by
 * snarkjs.
 */
export type CurveName = 'bn254' | 'bls12-381';

/**
 * Canonical big-endian affine x‖y; all zero is the point at infinity. 64 bytes BN254, 96 BLS12-381.
 */
export type G1Bytes = Uint8Array & { readonly __form: 'g1-affine-canonical-be' };
/**
 * Canonical big-endian affine x.c1‖x.c0‖y.c1‖y.c0 (Zcash's order); all zero is infinity. 128 or 192
 * bytes.
 */
export type G2Bytes = Uint8Array & { readonly __form: 'g2-affine-canonical-be' };
/** 32 bytes below r, least significant first. */
export type FrCanonicalLE = Uint8Array & { readonly __form: 'fr-canonical-le' };

export interface Curve {
  readonly name: CurveName;
  /** Order of G1, G2 and the scalars. */
  readonly r: bigint;
  /** Modulus of the coordinates. */
  readonly q: bigint;
  /** Bytes of a coordinate: 32 or 48. */
  readonly fpBytes: 32 | 48;
  readonly noble: typeof bn254 | typeof bls12_381;
}

const CURVES: Readonly<Record<CurveName, Curve>> = {
  bn254: {
    name: 'bn254',
    r: bn254.fields.Fr.ORDER,
    q: bn254.fields.Fp.ORDER,
    fpBytes: 32,
    noble: bn254,
  },
  'bls12-381': {
    name: 'bls12-381',
    r: bls12_381.fields.Fr.ORDER,
    q: bls12_381.fields.Fp.ORDER,
    fpBytes: 48,
    noble: bls12_381,
  },
};

export function curveOf(name: CurveName): Curve {
  return CURVES[name];
}

/** The curve whose moduli are `q` and `r`, if we know it. */
export function curveByModuli(q: bigint | undefined, r: bigint): Curve | undefined {
  return Object.values(CURVES).find((c) => c.r === r && (q === undefined || c.q === q));
}
