import type { ProvingKeySource } from '../groth16/types.ts';

/** Consecutive bytes of a key's file, all of one part of it. */
export interface KeyPiece {
  /** `h`, `l`, `a`, `bG1`, `bG2`, `rows`, or what lies around them. */
  readonly part: string;
  readonly offset: number;
  readonly length: number;
}

const AROUND = 'header and verifying key';
/** A file has about so many pieces at most, and none of a part that is shorter than this. */
const PIECES = 1024;
const PIECE_BYTES_MIN = 65_536;

/** The whole file in pieces, in order: small enough that one that is damaged says where. */
export function piecesOf(key: ProvingKeySource, bytes: number): KeyPiece[] {
  const { h, l, a, bG1, bG2, rows } = key;
  const parts = Object.entries({ h, l, a, bG1, bG2, ...(rows && { rows }) })
    .map(([part, { slice }]) => ({ part, offset: slice.offset, length: slice.length }))
    .sort((x, y) => x.offset - y.offset);
  const pieceBytes = Math.max(PIECE_BYTES_MIN, Math.ceil(bytes / PIECES));
  const pieces: KeyPiece[] = [];
  let at = 0;
  for (const { part, offset, length } of [...parts, { part: '', offset: bytes, length: 0 }]) {
    pieces.push(...cut(AROUND, at, offset, pieceBytes), ...cut(part, offset, offset + length));
    at = offset + length;
  }
  return pieces;

  function* cut(part: string, from: number, to: number, step = pieceBytes): Generator<KeyPiece> {
    for (let offset = from; offset < to; offset += step) {
      yield { part, offset, length: Math.min(step, to - offset) };
    }
  }
}
