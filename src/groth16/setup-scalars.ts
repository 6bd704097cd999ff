import { writeBigIntLE } from '../core/bytes.ts';
import type { Domain, QuotientBasis } from '../math/domain.ts';
import type { Pacer } from '../math/pacer.ts';
import type { ConstraintSystemSource } from '../r1cs/constraint-system.ts';
import { queryScalars, quotientScalars } from './query-scalars.ts';
import type { ToxicWaste } from './toxic-waste.ts';

export const SCALAR_BYTES = 32;

/** Discrete logarithms of a key's points, 32 bytes each, canonical little-endian. */
export interface SetupScalars {
  /** By wire; zero where it does not occur. */
  readonly a: Uint8Array;
  readonly b: Uint8Array;
  /** By input. */
  readonly ic: Uint8Array;
  /** By auxiliary variable. */
  readonly l: Uint8Array;
  readonly h: Uint8Array;
  /** Entries of A and B; where the key holds them. */
  readonly coefficientCount?: number;
}

/** What computes them, for one constraint system and bellman parameters. @throws ERR_CANCELLED */
export type SetupScalarsOf = (wanted: {
  readonly waste: ToxicWaste;
  readonly signal: AbortSignal;
  readonly progress: (share: number) => void;
}) => Promise<SetupScalars>;

export async function scalarsInTypeScript(
  source: ConstraintSystemSource,
  { domain, basis }: { readonly domain: Domain; readonly basis: QuotientBasis },
  waste: ToxicWaste,
  pacer: Pacer,
  progress: (share: number) => void,
): Promise<SetupScalars> {
  const queries = await queryScalars(source, waste, domain, pacer, progress);
  const h = await quotientScalars(domain, basis, waste, pacer);
  return {
    a: await toBytes(queries.a, pacer),
    b: await toBytes(queries.b, pacer),
    ic: await toBytes(queries.ic, pacer),
    l: await toBytes(queries.l, pacer),
    h: await toBytes(h, pacer),
    coefficientCount: queries.coefficientCount,
  };
}

async function toBytes(values: readonly bigint[], pacer: Pacer): Promise<Uint8Array> {
  const bytes = new Uint8Array(SCALAR_BYTES * values.length);
  for (const [i, value] of values.entries()) {
    bytes.set(writeBigIntLE(value, SCALAR_BYTES), SCALAR_BYTES * i);
    if (pacer.due) await pacer.pause();
  }
  return bytes;
}

/** Without those that are zero. @param scalars at the beginning of their memory */
export function nonZero(scalars: Uint8Array): Uint8Array {
  const kept = new Uint8Array(scalars.length);
  let end = 0;
  for (let at = 0; at < scalars.length; at += SCALAR_BYTES) {
    if (isZero(scalars, at)) continue;
    kept.set(scalars.subarray(at, at + SCALAR_BYTES), end);
    end += SCALAR_BYTES;
  }
  return kept.subarray(0, end);
}

/** Index of the first that is zero; -1 where none is. */
export function firstZero(scalars: Uint8Array): number {
  for (let at = 0; at < scalars.length; at += SCALAR_BYTES) {
    if (isZero(scalars, at)) return at / SCALAR_BYTES;
  }
  return -1;
}

function isZero(scalars: Uint8Array, at: number): boolean {
  for (let i = at; i < at + SCALAR_BYTES; i++) if (scalars[i] !== 0) return false;
  return true;
}
