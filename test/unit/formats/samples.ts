import { expect } from 'vitest';
import { concatBytes, viewOf, writeBigIntLE } from '../../../src/core/bytes.ts';
import { ProverError } from '../../../src/core/errors.ts';
import { type ByteSource, fromBytes } from '../../../src/core/source.ts';
import type { ByteStream, RecordStream } from '../../../src/formats/byte-stream.ts';
import { writeR1cs } from '../../../src/formats/r1cs.ts';
import { writeWtns } from '../../../src/formats/wtns.ts';
import { writeZkey } from '../../../src/formats/zkey.ts';
import { type Coefficient, writeCoefficient } from '../../../src/groth16/coefficient-rows.ts';
import type { CurveName } from '../../../src/math/curve.ts';
import { g1Of, g2Of, pointToBytes, pointToForm } from '../../../src/math/points.ts';
import type { Constraint } from '../../../src/r1cs/constraint-system.ts';

export async function collect(stream: ByteStream): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of stream) parts.push(part);
  return concatBytes(...parts);
}

export async function listOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

/** The one error that `work` must end with: ERR_FORMAT, one line that names the file. */
export async function refusal(work: Promise<unknown>): Promise<string> {
  const thrown = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(ProverError);
  const { code, message } = thrown as ProverError;
  expect(code).toBe('ERR_FORMAT');
  expect(message).toMatch(/^[^\n]{1,200}: expected [^\n]{1,200}, got [^\n]{1,100}$/);
  return message;
}

/** A source that notes how much was read from it at once. */
export function watched(bytes: Uint8Array, name = 'sample'): ByteSource & { largestRead: number } {
  const inner = fromBytes(name, bytes);
  return {
    name,
    size: inner.size,
    largestRead: 0,
    read(offset, length) {
      this.largestRead = Math.max(this.largestRead, length);
      return inner.read(offset, length);
    },
    [Symbol.asyncDispose]: () => inner[Symbol.asyncDispose](),
  };
}

/** x·y = out over the wires 1, out, x, y, with `out` public. */
export const PRODUCT: Constraint = {
  a: [{ wire: 2, coefficient: 1n }],
  b: [{ wire: 3, coefficient: 1n }],
  c: [{ wire: 1, coefficient: 1n }],
};

export const COEFFICIENTS: readonly Coefficient[] = [
  { matrix: 'A', row: 0, wire: 2, value: 1n },
  { matrix: 'B', row: 0, wire: 3, value: 123456789n },
  { matrix: 'A', row: 1, wire: 0, value: 1n },
  { matrix: 'A', row: 2, wire: 1, value: 1n },
];

/** A zkey of the right shape (four wires, a domain of four) whose points are small multiples of the generators. */
export function sampleZkey(curve: CurveName): Promise<Uint8Array> {
  const [g1, g2] = [g1Of(curve), g2Of(curve)];
  const p1 = (k: bigint) => pointToBytes(g1, g1.Point.BASE.multiply(k));
  const p2 = (k: bigint) => pointToBytes(g2, g2.Point.BASE.multiply(k));
  const query = (count: number, from: bigint): RecordStream => ({
    count,
    bytes: Array.from({ length: count }, (_, i) =>
      pointToForm(g1, 'montgomery-le', g1.Point.BASE.multiply(from + BigInt(i))),
    ),
  });
  return collect(
    writeZkey({
      verifyingKey: {
        curve,
        alphaG1: p1(2n),
        betaG2: p2(3n),
        gammaG2: p2(4n),
        deltaG2: p2(5n),
        ic: [p1(6n), p1(7n)],
      },
      betaG1: p1(3n),
      deltaG1: p1(5n),
      logN: 2,
      rows: {
        count: COEFFICIENTS.length,
        bytes: COEFFICIENTS.map((c) => writeCoefficient(curve, c)),
      },
      a: query(4, 10n),
      bG1: query(4, 20n),
      bG2: {
        count: 4,
        bytes: [0n, 1n, 2n, 3n].map((k) =>
          pointToForm(g2, 'montgomery-le', k === 0n ? g2.Point.ZERO : g2.Point.BASE.multiply(k)),
        ),
      },
      l: query(2, 30n),
      h: query(4, 40n),
    }),
  );
}

export function sampleWtns(curve: CurveName, values = [1n, 33n, 3n, 11n]): Promise<Uint8Array> {
  return collect(
    writeWtns(curve, { count: values.length, bytes: values.map((v) => writeBigIntLE(v, 32)) }),
  );
}

export function sampleR1cs(curve: CurveName, constraints = [PRODUCT]): Promise<Uint8Array> {
  return collect(
    writeR1cs(
      { curve, wireCount: 4, publicOutputCount: 1, publicInputCount: 0, privateInputCount: 2 },
      constraints,
    ),
  );
}

/** Where each section of a container begins (its header) and where its content begins. */
export function sectionsOf(
  bytes: Uint8Array,
): { id: number; header: number; content: number; length: number }[] {
  const view = viewOf(bytes);
  let at = 12;
  return Array.from({ length: view.getUint32(8, true) }, () => {
    const section = {
      id: view.getUint32(at, true),
      header: at,
      content: at + 12,
      length: Number(view.getBigUint64(at + 4, true)),
    };
    at = section.content + section.length;
    return section;
  });
}

/** The same container without a section, or with another content of it. */
export function replaceSection(bytes: Uint8Array, id: number, content?: Uint8Array): Uint8Array {
  const sections = sectionsOf(bytes);
  const parts = sections.flatMap((section) => {
    const old = bytes.subarray(section.content, section.content + section.length);
    if (section.id !== id) return [sectionBytes(section.id, old)];
    return content === undefined ? [] : [sectionBytes(id, content)];
  });
  return withSections(bytes, parts);
}

export function appendSection(bytes: Uint8Array, id: number, content: Uint8Array): Uint8Array {
  const parts = sectionsOf(bytes).map((section) =>
    bytes.subarray(section.header, section.content + section.length),
  );
  return withSections(bytes, [...parts, sectionBytes(id, content)]);
}

function withSections(bytes: Uint8Array, parts: readonly Uint8Array[]): Uint8Array {
  const header = bytes.slice(0, 12);
  viewOf(header).setUint32(8, parts.length, true);
  return concatBytes(header, ...parts);
}

function sectionBytes(id: number, content: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(12 + content.length);
  viewOf(bytes).setUint32(0, id, true);
  viewOf(bytes).setBigUint64(4, BigInt(content.length), true);
  bytes.set(content, 12);
  return bytes;
}

/** A copy with a u32 (little-endian unless said otherwise) set. */
export function withU32(
  bytes: Uint8Array,
  at: number,
  value: number,
  littleEndian = true,
): Uint8Array {
  const copy = bytes.slice();
  viewOf(copy).setUint32(at, value, littleEndian);
  return copy;
}
