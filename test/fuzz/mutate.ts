import { concatBytes, viewOf } from '../../src/core/bytes.ts';
import type { Random } from './random.ts';

/** Inputs beyond this are cut, so that a case stays short. */
export const INPUT_BYTES_MAX = 65_536;

type Mutation = (bytes: Uint8Array, random: Random, other: Uint8Array) => Uint8Array;

const WORDS = [0, 1, 2, 12, 64, 255, 2 ** 16, 2 ** 27, 2 ** 28, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 2];
const LONGS = [2n ** 32n, 2n ** 53n, 2n ** 62n, 2n ** 63n, 2n ** 64n - 1n];

/** Headers stand first: half of the changes hit the first 200 bytes. */
function place(bytes: Uint8Array, random: Random): number {
  return random.below(random.chance(0.5) ? Math.min(200, bytes.length) : bytes.length);
}

function splice(bytes: Uint8Array, at: number, removed: number, put: Uint8Array): Uint8Array {
  return concatBytes(bytes.subarray(0, at), put, bytes.subarray(at + removed));
}

function write(bytes: Uint8Array, at: number, size: number, set: (view: DataView) => void) {
  const copy = bytes.slice();
  if (at + size <= copy.length) set(viewOf(copy));
  return copy;
}

const binary: readonly Mutation[] = [
  function flip(bytes, random) {
    const at = place(bytes, random);
    return write(bytes, at, 1, (v) => v.setUint8(at, v.getUint8(at) ^ (1 << random.below(8))));
  },
  function byte(bytes, random) {
    const at = place(bytes, random);
    return write(bytes, at, 1, (v) => v.setUint8(at, random.below(256)));
  },
  function word(bytes, random) {
    const at = place(bytes, random);
    const near = bytes.length + random.below(64) - 32;
    const value = random.chance(0.2) ? Math.max(0, near) : random.pick(WORDS);
    return write(bytes, at, 4, (v) => v.setUint32(at, value, random.chance(0.7)));
  },
  function count(bytes, random) {
    const at = place(bytes, random);
    const step = random.pick([-2, -1, 1, 2]);
    const little = random.chance(0.7);
    return write(bytes, at, 4, (v) => v.setUint32(at, v.getUint32(at, little) + step, little));
  },
  function long(bytes, random) {
    const at = place(bytes, random);
    return write(bytes, at, 8, (v) => v.setBigUint64(at, random.pick(LONGS), random.chance(0.7)));
  },
  function cut(bytes, random) {
    return bytes.slice(0, place(bytes, random));
  },
  function remove(bytes, random) {
    return splice(bytes, place(bytes, random), 1 + random.below(64), new Uint8Array(0));
  },
  function repeat(bytes, random) {
    const at = place(bytes, random);
    const part = bytes.subarray(at, at + 1 + random.below(100));
    return splice(bytes, at, 0, part);
  },
  function noise(bytes, random) {
    const put = Uint8Array.from({ length: 1 + random.below(32) }, () => random.below(256));
    return splice(bytes, place(bytes, random), random.below(32), put);
  },
  function cross(bytes, random, other) {
    return concatBytes(
      bytes.subarray(0, place(bytes, random)),
      other.subarray(place(other, random)),
    );
  },
];

const TOKENS = [
  ...[
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '\\u0000',
    '\\ud800',
    '\u0000',
    '\u00ff',
    '\n',
    '\r\n',
  ],
  ...['null', 'true', '-0', '1e999', '0x10', '1'.repeat(200), '9007199254740993', '-1', '0.5'],
  ...['__proto__', 'constructor', 'toString', '../', '/etc/passwd', '%00', '%2e%2e%2f', "'; --"],
  ...['--', '\r\n\r\n', 'Content-Length: 5\r\n', 'Transfer-Encoding: chunked\r\n', '0\r\n\r\n'],
  ...[
    '[[[[[[[[[[[[[[[[[[[[',
    '{"a":{"a":{"a":',
    'boundary=',
    'filename*=',
    ';',
    '=',
    '&',
    '?',
    '#',
  ],
];

const text: readonly Mutation[] = [
  function token(bytes, random) {
    const put = new TextEncoder().encode(random.pick(TOKENS));
    return splice(bytes, random.below(bytes.length + 1), random.below(4), put);
  },
  function changeJson(bytes, random) {
    const value = jsonOf(bytes);
    if (value === undefined) return bytes;
    return new TextEncoder().encode(JSON.stringify(changed(value, random)));
  },
];

const VALUES: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1.5, 1e308, 2 ** 53, '', '0', '-1', '0x1', '1e3', 'bn254', 'x'],
  ...['9'.repeat(100), '\u0000', '\ud800', [], {}, [[]], [0, 1, 0], ['0', '1', '0'], { a: {} }],
  ...[{ ['__proto__']: 1 }, { constructor: 1 }, { length: 2 ** 32 }, Array(50).fill('1')],
];

/** One value of a JSON text replaced, removed, doubled or wrapped. */
function changed(value: unknown, random: Random): unknown {
  if (typeof value !== 'object' || value === null || random.chance(0.15)) {
    if (random.chance(0.15)) return [value];
    return random.pick(VALUES);
  }
  const entries = Object.entries(value);
  const at = random.below(entries.length);
  const entry = entries[at];
  if (entry === undefined) return random.pick(VALUES);
  const change = random.next();
  if (change < 0.1) entries.splice(at, 1);
  else if (change < 0.2) entries.push(['extra', random.pick(VALUES)]);
  else entries[at] = [entry[0], changed(entry[1], random)];
  if (Array.isArray(value)) return entries.map(([, item]) => item);
  return Object.fromEntries(entries);
}

function jsonOf(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes));
  } catch {
    return undefined;
  }
}

/** One to four changes to the first of two inputs. */
export function mutate(
  bytes: Uint8Array,
  other: Uint8Array,
  kind: 'binary' | 'text',
  random: Random,
): Uint8Array {
  let current = bytes;
  for (let left = 1 + random.below(4); left > 0; left--) {
    const set = kind === 'text' && random.chance(0.75) ? text : binary;
    current = random.pick(set)(current, random, other);
  }
  return current.subarray(0, INPUT_BYTES_MAX);
}
