/** Bounds on the shape of a JSON text: what it costs to build and to walk, whatever its length. */
export interface JsonLimits {
  /** Arrays and objects inside one another. */
  readonly levels: number;
  /** Values, arrays and objects among them. */
  readonly values: number;
  /** Names of all objects together. */
  readonly names: number;
}

/** A text is no JSON, or more than its reader allows. It is never quoted: it may be secret. */
export class JsonError extends Error {
  override readonly name = 'JsonError';
  readonly expected: string;

  constructor(expected: string) {
    super(`expected ${expected}`);
    this.expected = expected;
  }
}

const CODE = {
  quote: '"'.charCodeAt(0),
  backslash: '\\'.charCodeAt(0),
  comma: ','.charCodeAt(0),
  colon: ':'.charCodeAt(0),
  openArray: '['.charCodeAt(0),
  closeArray: ']'.charCodeAt(0),
  openObject: '{'.charCodeAt(0),
  closeObject: '}'.charCodeAt(0),
} as const;

/** JSON in UTF-8, its shape checked before anything is built of it. @throws JsonError */
export function parseJson(bytes: Uint8Array, limits: JsonLimits): unknown {
  checkShape(bytes, limits);
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new JsonError('JSON');
  }
}

/** One pass that counts what stands outside of strings. @throws JsonError */
function checkShape(bytes: Uint8Array, limits: JsonLimits): void {
  let [depth, values, names] = [0, 1, 0];
  for (let i = 0; i < bytes.length; i++) {
    const code = bytes[i];
    if (code === CODE.quote) {
      i = endOfString(bytes, i);
    } else if (code === CODE.openArray || code === CODE.openObject) {
      depth++;
      values++;
      if (depth > limits.levels) throw new JsonError(`JSON of at most ${limits.levels} levels`);
    } else if (code === CODE.closeArray || code === CODE.closeObject) depth--;
    else if (code === CODE.comma) values++;
    else if (code === CODE.colon) names++;
    if (values > limits.values) throw new JsonError(`JSON of at most ${limits.values} values`);
    if (names > limits.names) throw new JsonError(`JSON of at most ${limits.names} names`);
  }
}

/** @param start of a string @returns where it ends, or the end of the text */
function endOfString(bytes: Uint8Array, start: number): number {
  let end = bytes.indexOf(CODE.quote, start + 1);
  while (end >= 0 && isEscaped(bytes, end)) end = bytes.indexOf(CODE.quote, end + 1);
  return end < 0 ? bytes.length : end;
}

/** Whether an odd number of backslashes stands before. */
function isEscaped(bytes: Uint8Array, at: number): boolean {
  let first = at;
  while (bytes[first - 1] === CODE.backslash) first--;
  return (at - first) % 2 === 1;
}
