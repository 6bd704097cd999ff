import { concatBytes, readBigIntLE, viewOf, writeBigIntLE } from '../core/bytes.ts';
import { formatError } from '../core/errors.ts';
import type { ByteSource } from '../core/source.ts';
import { MIB } from '../core/units.ts';
import { type CurveName, curveByModuli, curveOf } from '../math/curve.ts';
import type { Constraint, ConstraintSystemSource, Term } from '../r1cs/constraint-system.ts';
import { ByteReader } from './byte-reader.ts';
import {
  type Container,
  readContainer,
  readSmallSection,
  requireSection,
  type Section,
  writeContainer,
} from './container.ts';

/** Wires: the constant 1, public outputs, public inputs, private inputs, then intermediate ones. */
export interface R1csHeader {
  readonly curve: CurveName;
  readonly wireCount: number;
  readonly publicOutputCount: number;
  readonly publicInputCount: number;
  readonly privateInputCount: number;
  readonly constraintCount: number;
}

export interface R1cs extends R1csHeader, ConstraintSystemSource {}

const VERSION = 1;
const SCALAR_BYTES = 32;
const TERM_BYTES = 4 + SCALAR_BYTES;
/** u32 n8, modulus, four u32 counts, u64 labels, u32 constraints. */
const HEADER_BYTES = 4 + SCALAR_BYTES + 4 * 4 + 8 + 4;
/** Three linear combinations without a term. */
const CONSTRAINT_BYTES_MIN = 3 * 4;
/** Terms of one linear combination, which is the largest thing that is read at once (36 MiB). */
export const TERMS_MAX = 1_048_576;

/**
 * The circuit of a `.r1cs` file. Its constraints are read anew, in pieces, by each call of
 * `constraints`, which throws ERR_FORMAT where they are malformed. The source stays borrowed.
 * @throws ERR_FORMAT
 */
export async function readR1cs(source: ByteSource): Promise<R1cs> {
  const container = await readContainer(source, 'r1cs', VERSION);
  const header = await readHeader(container);
  await refuseCustomGates(container);
  const section = requireSection(container, 2);
  const bytesMin = header.constraintCount * CONSTRAINT_BYTES_MIN;
  if (section.length < bytesMin) {
    throw formatError(`${source.name}: section 2`, `at least ${bytesMin} bytes`, section.length);
  }
  const inputCount = 1 + header.publicOutputCount + header.publicInputCount;
  return {
    ...header,
    inputCount,
    auxCount: header.wireCount - inputCount,
    constraints: () => readConstraints(source, section, header),
  };
}

async function readHeader(container: Container): Promise<R1csHeader> {
  const subject = `${container.source.name}: header`;
  const reader = new ByteReader(subject, await readSmallSection(container, 1, HEADER_BYTES));
  const curve = curveByModuli(undefined, reader.modulus());
  if (curve === undefined) {
    throw formatError(`${subject}: field`, 'the scalars of BN254 or BLS12-381', 'another field');
  }
  const wireCount = reader.u32();
  const publicOutputCount = reader.u32();
  const publicInputCount = reader.u32();
  const privateInputCount = reader.u32();
  reader.take(8);
  const constraintCount = reader.u32();
  reader.end();
  const named = 1 + publicOutputCount + publicInputCount + privateInputCount;
  if (named > wireCount) {
    throw formatError(`${subject}: wires`, `at least ${named} (1, outputs, inputs)`, wireCount);
  }
  if (container.sections.has(3)) requireSection(container, 3, wireCount * 8);
  return {
    curve: curve.name,
    wireCount,
    publicOutputCount,
    publicInputCount,
    privateInputCount,
    constraintCount,
  };
}

/** Sections 4 and 5 list PLONK's custom gates and their uses, each after a u32 count. */
async function refuseCustomGates({ source, sections }: Container): Promise<void> {
  for (const id of [4, 5]) {
    const section = sections.get(id);
    if (section === undefined || section.length === 0) continue;
    const empty =
      section.length === 4 && viewOf(await source.read(section.offset, 4)).getUint32(0) === 0;
    if (empty) continue;
    throw formatError(`${source.name}: section ${id}`, 'no custom gates', 'some (made for PLONK)');
  }
}

async function* readConstraints(
  source: ByteSource,
  section: Section,
  header: R1csHeader,
): AsyncGenerator<Constraint> {
  const cursor = new Cursor(source, section);
  for (let index = 0; index < header.constraintCount; index++) {
    const subject = `${source.name}: constraint ${index}`;
    const a = await readTerms(cursor, `${subject}: A`, header);
    const b = await readTerms(cursor, `${subject}: B`, header);
    const c = await readTerms(cursor, `${subject}: C`, header);
    yield { a, b, c };
  }
  if (cursor.left !== 0) {
    const expected = `${header.constraintCount} constraints`;
    throw formatError(`${source.name}: section 2`, expected, `${cursor.left} bytes more`);
  }
}

async function readTerms(cursor: Cursor, subject: string, header: R1csHeader): Promise<Term[]> {
  const count = viewOf(await cursor.take(subject, 4)).getUint32(0, true);
  const limit = Math.min(TERMS_MAX, header.wireCount);
  if (count > limit) throw formatError(`${subject}: terms`, `at most ${limit}`, count);
  return parseTerms(await cursor.take(subject, count * TERM_BYTES), subject, header);
}

/** Terms whose coefficient is zero are dropped. */
function parseTerms(bytes: Uint8Array, subject: string, header: R1csHeader): Term[] {
  const { r } = curveOf(header.curve);
  const view = viewOf(bytes);
  const terms: Term[] = [];
  const seen = new Set<number>();
  for (let at = 0; at < bytes.length; at += TERM_BYTES) {
    const wire = view.getUint32(at, true);
    const coefficient = readBigIntLE(bytes.subarray(at + 4, at + TERM_BYTES));
    if (wire >= header.wireCount) {
      throw formatError(`${subject}: wire`, `below ${header.wireCount}`, wire);
    }
    if (seen.has(wire)) throw formatError(`${subject}: wire ${wire}`, 'one term', 'two');
    seen.add(wire);
    if (coefficient >= r) {
      throw formatError(`${subject}: wire ${wire}`, 'a coefficient below r', 'a larger number');
    }
    if (coefficient !== 0n) terms.push({ wire, coefficient });
  }
  return terms;
}

/** Reads a section front to back through a window of at least 1 MiB. */
class Cursor {
  readonly #source: ByteSource;
  readonly #end: number;
  #next: number;
  #window: Uint8Array = new Uint8Array(0);

  constructor(source: ByteSource, section: Section) {
    this.#source = source;
    this.#next = section.offset;
    this.#end = section.offset + section.length;
  }

  /** Bytes of the section that were not taken yet. */
  get left(): number {
    return this.#end - this.#next + this.#window.length;
  }

  async take(subject: string, length: number): Promise<Uint8Array> {
    if (length > this.left) throw formatError(subject, `${length} more bytes`, this.left);
    if (length > this.#window.length) {
      const missing = Math.max(length - this.#window.length, MIB);
      const fresh = Math.min(missing, this.#end - this.#next);
      this.#window = concatBytes(this.#window, await this.#source.read(this.#next, fresh));
      this.#next += fresh;
    }
    const taken = this.#window.subarray(0, length);
    this.#window = this.#window.subarray(length);
    return taken;
  }
}

/** The bytes of a `.r1cs` file; wire i has label i. For circuits small enough to hold. */
export function writeR1cs(
  header: Omit<R1csHeader, 'constraintCount'>,
  constraints: readonly Constraint[],
): AsyncGenerator<Uint8Array> {
  const body = constraints.flatMap(({ a, b, c }) => [a, b, c].map(termBytes));
  const labels = new Uint8Array(header.wireCount * 8);
  for (let wire = 0; wire < header.wireCount; wire++) {
    viewOf(labels).setBigUint64(wire * 8, BigInt(wire), true);
  }
  return writeContainer('r1cs', VERSION, [
    { id: 1, length: HEADER_BYTES, bytes: [headerBytes(header, constraints.length)] },
    { id: 2, length: body.reduce((sum, part) => sum + part.length, 0), bytes: body },
    { id: 3, length: labels.length, bytes: [labels] },
  ]);
}

function headerBytes(header: Omit<R1csHeader, 'constraintCount'>, constraints: number): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES);
  const view = viewOf(bytes);
  view.setUint32(0, SCALAR_BYTES, true);
  bytes.set(writeBigIntLE(curveOf(header.curve).r, SCALAR_BYTES), 4);
  view.setUint32(36, header.wireCount, true);
  view.setUint32(40, header.publicOutputCount, true);
  view.setUint32(44, header.publicInputCount, true);
  view.setUint32(48, header.privateInputCount, true);
  view.setBigUint64(52, BigInt(header.wireCount), true);
  view.setUint32(60, constraints, true);
  return bytes;
}

function termBytes(terms: readonly Term[]): Uint8Array {
  const bytes = new Uint8Array(4 + terms.length * TERM_BYTES);
  viewOf(bytes).setUint32(0, terms.length, true);
  terms.forEach(({ wire, coefficient }, i) => {
    viewOf(bytes).setUint32(4 + i * TERM_BYTES, wire, true);
    bytes.set(writeBigIntLE(coefficient, SCALAR_BYTES), 8 + i * TERM_BYTES);
  });
  return bytes;
}
