import { viewOf, writeBigIntLE } from '../core/bytes.ts';
import type { Pacer } from '../math/pacer.ts';
import type { Program } from './program.ts';
import { instancesOf } from './program-instances.ts';
import type { ProgramCounts } from './program-shape.ts';
import { type Leaf, TERM_INDEX_MAX } from './template.ts';

/** A code and a coefficient. */
const TERM_WORDS = 9;

/**
 * The rows of a circuit, its input rows (A = {input i: 1}) last, so that equal bytes mean equal
 * circuits. For each row, for A, then B, then C: u32 number of terms, then each term, by code: u32
 * code (input i is i, aux variable j is 0x80000000 | j) and 32 bytes of the coefficient, canonical.
 * All little-endian. Pieces are borrowed until the next one.
 */
export async function* rowBytes(program: Program, pacer: Pacer): AsyncGenerator<Uint8Array> {
  const images = new RowImages(program.coefficients);
  for (const { leaf, codes } of instancesOf(program)) {
    yield images.of(leaf, codes);
    if (pacer.due) await pacer.pause();
  }
  for (let input = 0; input <= program.root.publics; input++) yield inputRow(input);
}

/** Of all of `rowBytes`. */
export function rowBytesLength({ rows, nonZero }: ProgramCounts): number {
  const [a, b, c] = nonZero;
  return 4 * (3 * rows + TERM_WORDS * (a + b + c));
}

function inputRow(input: number): Uint8Array {
  const bytes = new Uint8Array(4 * (3 + TERM_WORDS));
  const view = viewOf(bytes);
  view.setUint32(0, 1, true);
  view.setUint32(4, input, true);
  bytes[8] = 1;
  return bytes;
}

/** Rows of a leaf as bytes, in which only the codes differ from instance to instance. */
interface Image {
  readonly words: Uint32Array;
  /** Where codes stand, and the local wire of each. */
  readonly positions: Uint32Array;
  readonly wires: Uint32Array;
}

/** Makes one image for each leaf and each order of its wires by code, which is that of terms. */
class RowImages {
  readonly #coefficients: readonly Uint32Array[];
  readonly #images = new Map<Leaf, Map<string, Image>>();

  constructor(coefficients: readonly bigint[]) {
    this.#coefficients = coefficients.map((value) => wordsOf(writeBigIntLE(value, 32)));
  }

  of(leaf: Leaf, codes: Uint32Array): Uint8Array {
    const { words, positions, wires } = this.#image(leaf, codes);
    for (let i = 0; i < positions.length; i++) {
      words[positions[i] as number] = codes[wires[i] as number] as number;
    }
    return new Uint8Array(words.buffer);
  }

  #image(leaf: Leaf, codes: Uint32Array): Image {
    const ranks = ranksOf(leaf, codes);
    const key = ranks.join();
    const images = this.#images.get(leaf) ?? new Map<string, Image>();
    this.#images.set(leaf, images);
    const image = images.get(key) ?? this.#draw(leaf, ranks);
    images.set(key, image);
    return image;
  }

  #draw(leaf: Leaf, ranks: Uint32Array): Image {
    const terms = leaf.lcsOfRows.reduce((sum, lc) => sum + termsOf(leaf, lc).length, 0);
    const words = new Uint32Array(leaf.lcsOfRows.length + TERM_WORDS * terms);
    const [positions, wires] = [new Uint32Array(terms), new Uint32Array(terms)];
    const rankOf = (term: number) => ranks[term & TERM_INDEX_MAX] ?? term & TERM_INDEX_MAX;
    let [at, count] = [0, 0];
    for (const lc of leaf.lcsOfRows) {
      const row = termsOf(leaf, lc)
        .slice()
        .sort((x, y) => rankOf(x) - rankOf(y));
      words[at++] = row.length;
      for (const term of row) {
        positions[count] = at;
        wires[count++] = term & TERM_INDEX_MAX;
        words.set(this.#coefficients[term >>> 16] as Uint32Array, at + 1);
        at += TERM_WORDS;
      }
    }
    return { words, positions, wires };
  }
}

/**
 * The place by code of each local wire but own aux variables, which are numbered by code already
 * and come after all others.
 */
function ranksOf({ bound, publics }: Leaf, codes: Uint32Array): Uint32Array {
  const wires = Uint32Array.from({ length: 1 + bound + publics }, (_, i) => i);
  wires.sort((x, y) => (codes[x] as number) - (codes[y] as number));
  const ranks = new Uint32Array(wires.length);
  for (const [rank, wire] of wires.entries()) ranks[wire] = rank;
  return ranks;
}

function termsOf({ lcEnds, terms }: Leaf, lc: number): Uint32Array {
  return terms.subarray(lc === 0 ? 0 : lcEnds[lc - 1], lcEnds[lc]);
}

function wordsOf(bytes: Uint8Array): Uint32Array {
  return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4);
}
