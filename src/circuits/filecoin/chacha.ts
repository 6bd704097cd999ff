const CONSTANTS = [0x61707865, 0x3320646e, 0x79622d32, 0x6b206574] as const;
const BLOCK_WORDS = 16;

/**
 * One block of the ChaCha keystream (RFC 8439 section 2.3), of 8 or 20 rounds.
 * @param key  eight words
 * @param tail the last four words of the state: counter and nonce
 */
export function chachaBlock(
  key: Uint32Array,
  tail: readonly number[],
  rounds: 8 | 20,
): Uint32Array {
  const start = Uint32Array.from([...CONSTANTS, ...key, ...tail]);
  const state = start.slice();
  for (let i = 0; i < rounds; i += 2) {
    for (let column = 0; column < 4; column++) {
      quarterRound(state, column, column + 4, column + 8, column + 12);
    }
    for (let column = 0; column < 4; column++) {
      const [b, c, d] = [1, 2, 3].map((step) => (column + step) % 4) as [number, number, number];
      quarterRound(state, column, b + 4, c + 8, d + 12);
    }
  }
  return state.map((word, i) => word + (start[i] as number));
}

/** RFC 8439 section 2.1. */
function quarterRound(x: Uint32Array, a: number, b: number, c: number, d: number): void {
  for (const [left, right] of [
    [16, 12],
    [8, 7],
  ] as const) {
    x[a] = at(x, a) + at(x, b);
    x[d] = rotateLeft(at(x, d) ^ at(x, a), left);
    x[c] = at(x, c) + at(x, d);
    x[b] = rotateLeft(at(x, b) ^ at(x, c), right);
  }
}

function at(x: Uint32Array, i: number): number {
  return x[i] as number;
}

function rotateLeft(word: number, count: number): number {
  return (word << count) | (word >>> (32 - count));
}

export function wordsOfKey(bytes: Uint8Array): Uint32Array {
  return Uint32Array.from({ length: bytes.length / 4 }, (_, i) =>
    Buffer.from(bytes).readUInt32LE(4 * i),
  );
}

/** rand_chacha's ChaCha8Rng: a 64-bit counter, no nonce, words in order. */
export class ChaCha8Rng {
  readonly #key: Uint32Array;
  #block: Uint32Array = new Uint32Array(0);
  #counter = 0;
  #next = 0;

  /** @param seed 32 bytes */
  constructor(seed: Uint8Array) {
    this.#key = wordsOfKey(seed);
  }

  nextU64(): bigint {
    const low = this.#nextU32();
    return (BigInt(this.#nextU32()) << 32n) | BigInt(low);
  }

  #nextU32(): number {
    if (this.#next === this.#block.length) {
      this.#block = chachaBlock(this.#key, [this.#counter++, 0, 0, 0], 8);
      this.#next = 0;
    }
    return this.#block[this.#next++] as number;
  }
}

/** Bytes [offset, offset + 64) of ChaCha20's keystream, `offset` a multiple of 64. */
export function chacha20Block(key: Uint8Array, nonce: Uint8Array, offset: number): Uint8Array {
  const tail = [offset / (4 * BLOCK_WORDS), ...wordsOfKey(nonce)];
  const words = chachaBlock(wordsOfKey(key), tail, 20);
  const bytes = Buffer.alloc(4 * BLOCK_WORDS);
  for (const [i, word] of words.entries()) bytes.writeUInt32LE(word, 4 * i);
  return bytes;
}
