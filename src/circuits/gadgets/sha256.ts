import { assert } from '../../core/assert.ts';
import type { Recorder } from '../../r1cs/recorder.ts';
import type { Bit } from '../../r1cs/recorder-signals.ts';
import { choose, majority } from './boolean.ts';
import { PackedEqualities } from './packed-equalities.ts';
import { addMany, constantWord, rotateRight, shiftRight, type Word, xorWords } from './uint32.ts';

const BLOCK_BITS = 512;
const LENGTH_BITS = 64;
const WORD_BITS = 32;
const ROUNDS = 64;

/** FIPS 180-4 sections 5.3.3 and 4.2.2: fractions of the roots of the first primes. */
const PRIMES = firstPrimes(ROUNDS);
const INITIAL = PRIMES.slice(0, 8).map((prime) => fractionOfRoot(prime, 2));
const ROUND_CONSTANTS = PRIMES.map((prime) => fractionOfRoot(prime, 3));

/**
 * SHA-256 (FIPS 180-4) of whole bytes, each with its most significant bit first, as bellperson
 * constrains it.
 * @returns 256 bits in the same order
 * @cost    25,840 constraints for a first block of 512 variable bits, 26,192 for each further one,
 *          19,034 for one that is constant
 */
export function sha256(cs: Recorder, message: readonly Bit[]): Bit[] {
  assert(message.length % 8 === 0, 'sha256: expected whole bytes');
  const padded = pad(message);
  let state: readonly Word[] = INITIAL.map(constantWord);
  for (let start = 0; start < padded.length; start += BLOCK_BITS) {
    const block = wordsOf(padded.slice(start, start + BLOCK_BITS));
    const inputs = [block, state] as const;
    state = cs.scope(`sha256 block ${start / BLOCK_BITS}`, () =>
      cs.template('sha256 block', inputs, (inner, [words, before]) =>
        compress(inner, words, before),
      ),
    );
  }
  return state.flatMap((word) => word.toReversed());
}

/** FIPS 180-4 section 5.1.1. */
function pad(message: readonly Bit[]): Bit[] {
  const zeros = (2 * BLOCK_BITS - ((message.length + 1 + LENGTH_BITS) % BLOCK_BITS)) % BLOCK_BITS;
  const length = message.length.toString(2).padStart(LENGTH_BITS, '0');
  return [
    ...message,
    true,
    ...new Array<Bit>(zeros).fill(false),
    ...Array.from(length, (digit) => digit === '1'),
  ];
}

function wordsOf(bits: readonly Bit[]): Word[] {
  return Array.from({ length: bits.length / WORD_BITS }, (_, i) =>
    bits.slice(i * WORD_BITS, (i + 1) * WORD_BITS).toReversed(),
  );
}

/** FIPS 180-4 section 6.2.2: one block of 16 words into a state of 8. */
function compress(cs: Recorder, block: readonly Word[], before: readonly Word[]): Word[] {
  const equalities = new PackedEqualities(cs);
  const schedule = scheduleOf(cs, equalities, block);
  const sum = (operands: readonly Word[]) =>
    operands.length === 1 ? (operands[0] as Word) : addMany(cs, equalities, operands);
  const [a0, b0, c0, d0, e0, f0, g0, h0] = before as EightWords;
  let [b, c, d] = [b0, c0, d0];
  let [f, g, h] = [f0, g0, h0];
  // What a and e are the sums of: they are made when a round asks for them, the last ones together
  // with the state before.
  let [aOperands, eOperands]: [Word[], Word[]] = [[a0], [e0]];
  for (let i = 0; i < ROUNDS; i++) {
    cs.scope(`round ${i}`, () => {
      const e = sum(eOperands);
      const s1 = xorRotations(cs, e, [6, 11, 25]);
      const chosen = e.map((bit, k) => choose(cs, bit, f[k] as Bit, g[k] as Bit));
      const constant = constantWord(ROUND_CONSTANTS[i] as number);
      const t1 = [h, s1, chosen, constant, schedule[i] as Word];
      const a = sum(aOperands);
      const s0 = xorRotations(cs, a, [2, 13, 22]);
      const most = a.map((bit, k) => majority(cs, bit, b[k] as Bit, c[k] as Bit));
      eOperands = [...t1, d];
      aOperands = [...t1, s0, most];
      [h, g, f] = [g, f, e];
      [d, c, b] = [c, b, a];
    });
  }
  const after = cs.scope('final sums', () => {
    const sums = [
      [...aOperands, a0],
      [b0, b],
      [c0, c],
      [d0, d],
    ];
    sums.push([...eOperands, e0], [f0, f], [g0, g], [h0, h]);
    return sums.map(sum);
  });
  equalities.finish();
  return after;
}

/** w_0 to w_63 of FIPS 180-4 section 6.2.2, step 1. */
function scheduleOf(cs: Recorder, equalities: PackedEqualities, block: readonly Word[]): Word[] {
  const w = [...block];
  const at = (i: number) => w[i] as Word;
  for (let i = block.length; i < ROUNDS; i++) {
    cs.scope(`schedule ${i}`, () => {
      const s0 = xorShifted(cs, at(i - 15), [7, 18, 3]);
      const s1 = xorShifted(cs, at(i - 2), [17, 19, 10]);
      w.push(addMany(cs, equalities, [at(i - 16), s0, at(i - 7), s1]));
    });
  }
  return w;
}

type Three = readonly [number, number, number];
type EightWords = readonly [Word, Word, Word, Word, Word, Word, Word, Word];

function xorRotations(cs: Recorder, x: Word, [i, j, k]: Three): Word {
  return xorWords(cs, xorWords(cs, rotateRight(x, i), rotateRight(x, j)), rotateRight(x, k));
}

function xorShifted(cs: Recorder, x: Word, [i, j, k]: Three): Word {
  return xorWords(cs, xorWords(cs, rotateRight(x, i), rotateRight(x, j)), shiftRight(x, k));
}

function firstPrimes(count: number): number[] {
  const primes: number[] = [];
  for (let n = 2; primes.length < count; n++) {
    if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  }
  return primes;
}

/** The first 32 bits of the fraction of the square (2) or cube (3) root. */
function fractionOfRoot(prime: number, degree: 2 | 3): number {
  const scaled = BigInt(prime) << BigInt(WORD_BITS * degree);
  // Bit by bit: the root of the scaled number is below 2^41.
  let root = 0n;
  for (let bit = 1n << 40n; bit > 0n; bit >>= 1n) {
    if ((root + bit) ** BigInt(degree) <= scaled) root += bit;
  }
  return Number(root & 0xffff_ffffn);
}
