import type { C1Head } from './c1-head.ts';

/** A commitment in hex, or a CID as Lotus's JSON has it. */
export type Commitment = string | { readonly '/': string };

export interface PorepSector {
  /** Number or name, as the chain registers it. */
  readonly registeredProof: number | string;
  readonly minerId: number | bigint;
  readonly sector: number | bigint;
}

/** Statement files (src/formats/statement.ts) out of what the wires of Filecoin's nodes carry. */
export const statementOf = {
  porep({ registeredProof, minerId, sector }: PorepSector, c1: C1Head): Uint8Array {
    return encode({
      kind: 'porep',
      registered_proof: registeredProof,
      prover_id: `f0${minerId}`,
      sector_number: String(sector),
      ticket: c1.ticket,
      seed: c1.seed,
      comm_r: c1.commR,
      comm_d: c1.commD,
    });
  },

  snapDeals(
    registeredProof: number,
    commitments: { readonly old: Commitment; readonly new: Commitment; readonly data: Commitment },
  ): Uint8Array {
    return encode({
      kind: 'snap-deals',
      registered_proof: registeredProof,
      comm_r_old: commitments.old,
      comm_r_new: commitments.new,
      comm_d_new: commitments.data,
    });
  },

  post(
    kind: 'window-post' | 'winning-post',
    registeredProof: number,
    /** Hex of 32 bytes. */
    randomness: string,
    sectors: readonly { readonly number: number | bigint; readonly commR: Commitment }[],
  ): Uint8Array {
    return encode({
      kind,
      registered_proof: registeredProof,
      randomness,
      sectors: sectors.map(({ number }) => String(number)),
      comm_r: sectors.map(({ commR }) => commR),
    });
  },
};

function encode(statement: object): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(statement));
}
