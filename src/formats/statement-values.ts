import { fromHex, readBigIntLE } from '../core/bytes.ts';
import { formatError } from '../core/errors.ts';
import { curveOf } from '../math/curve.ts';

const { r } = curveOf('bls12-381');
const BASE32 = 'abcdefghijklmnopqrstuvwxyz234567';
const NUMBER_MAX = 2n ** 64n;

/**
 * What a commitment's CID says of it: codec and hash function of multiformats' table. Data:
 * fil-commitment-unsealed, sha2-256-trunc254-padded. Replica: fil-commitment-sealed,
 * poseidon-bls12_381-a2-fc1.
 */
const CID_PREFIXES = {
  data: [1, 0x81, 0xe2, 0x03, 0x92, 0x20, 0x20],
  replica: [1, 0x82, 0xe2, 0x03, 0x81, 0xe8, 0x02, 0x20],
} as const;

/** Both kinds begin with `bag`, which hex does not; a CID of data is as long as hex. */
const IS_CID = /^bag/;

/**
 * A commitment as hex of its 32 bytes, or as a CID, plain or as Lotus's JSON has it (`{"/": CID}`).
 * @throws ERR_FORMAT that names `subject`
 */
export function parseCommitment(
  subject: string,
  value: unknown,
  of: keyof typeof CID_PREFIXES,
): bigint {
  const text = typeof value === 'object' && value !== null && '/' in value ? value['/'] : value;
  if (typeof text !== 'string') throw formatError(subject, 'hex or a CID', kindOf(text));
  const bytes = IS_CID.test(text) ? parseCid(subject, text, of) : hex32(subject, text);
  const number = readBigIntLE(bytes);
  if (number === 0n || number >= r) {
    throw formatError(subject, 'a commitment: not zero and below r', 'another number');
  }
  return number;
}

/** 32 bytes of hex. @throws ERR_FORMAT that names `subject` */
export function parseBytes32(subject: string, value: unknown): Uint8Array {
  if (typeof value !== 'string') throw formatError(subject, '64 hex digits', kindOf(value));
  return hex32(subject, value);
}

/**
 * A prover's id: its 32 bytes in hex, or the address of the miner actor (`f01000`, `t01000`).
 * The id's bytes are those of unsigned LEB128, filled up with zeros.
 * @throws ERR_FORMAT that names `subject`
 */
export function parseProverId(subject: string, value: unknown): Uint8Array {
  const digits = typeof value === 'string' ? /^[ft]0(\d{1,20})$/.exec(value)?.[1] : undefined;
  if (digits === undefined) return parseBytes32(subject, value);
  let rest = parseNumber(subject, digits);
  const id = new Uint8Array(32);
  for (let i = 0; rest > 0n; i++, rest >>= 7n) {
    id[i] = Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0);
  }
  return id;
}

/** A u64: a JSON number, or decimal digits. @throws ERR_FORMAT that names `subject` */
export function parseNumber(subject: string, value: unknown): bigint {
  const isNumber = typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
  if (isNumber || (typeof value === 'string' && /^\d{1,20}$/.test(value))) {
    const number = BigInt(value as number | string);
    if (number < NUMBER_MAX) return number;
  }
  throw formatError(subject, 'a whole number below 2^64', 'something else');
}

function kindOf(value: unknown): string {
  return value === undefined ? 'none' : `a value of type ${typeof value}`;
}

function hex32(subject: string, text: string): Uint8Array {
  if (text.length !== 64) throw formatError(subject, '64 hex digits', `${text.length} characters`);
  return fromHex(subject, text);
}

/** The digest of a CID of version 1 in base32. */
function parseCid(subject: string, text: string, of: keyof typeof CID_PREFIXES): Uint8Array {
  const prefix = CID_PREFIXES[of];
  const bytes = fromBase32(text.slice(1));
  const isRight = bytes !== undefined && prefix.every((byte, i) => bytes[i] === byte);
  if (!isRight || bytes.length !== prefix.length + 32) {
    throw formatError(subject, `the CID of a ${of} commitment`, 'another text');
  }
  return bytes.subarray(prefix.length);
}

/** RFC 4648, lower case, unpadded; undefined for other characters. */
function fromBase32(text: string): Uint8Array | undefined {
  const bytes: number[] = [];
  let [bits, held] = [0, 0];
  for (const character of text.slice(0, 128)) {
    const value = BASE32.indexOf(character);
    if (value < 0) return undefined;
    bits = ((bits << 5) | value) & 0xfff;
    held += 5;
    if (held >= 8) {
      held -= 8;
      bytes.push((bits >> held) & 0xff);
    }
  }
  return Uint8Array.from(bytes);
}
