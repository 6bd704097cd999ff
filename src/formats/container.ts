import { viewOf } from '../core/bytes.ts';
import { formatError } from '../core/errors.ts';
import type { ByteSource } from '../core/source.ts';
import { type ByteStream, exactly, inLargePieces } from './byte-stream.ts';

/**
 * The container that zkey, wtns and r1cs files share: 4-byte magic, u32 version, u32 section count,
 * then sections of u32 id, u64 length and that many bytes, in any order. All integers are
 * little-endian. Bytes after the last section are allowed.
 */
export interface Container {
  readonly source: ByteSource;
  /** By id; ids that the reader does not know are here too and do no harm. */
  readonly sections: ReadonlyMap<number, Section>;
}

/** Where a section's content lies in its file. Always inside it. */
export interface Section {
  readonly offset: number;
  readonly length: number;
}

/** The largest files of snarkjs (FFLONK's zkey) have 17. */
const SECTIONS_MAX = 64;
const HEADER_BYTES = 12;
const SECTION_HEADER_BYTES = 12;

/** @throws ERR_FORMAT */
export async function readContainer(
  source: ByteSource,
  magic: string,
  version: number,
): Promise<Container> {
  if (source.size < HEADER_BYTES) {
    throw formatError(source.name, `a ${magic} file`, `${source.size} bytes`);
  }
  const header = viewOf(await source.read(0, HEADER_BYTES));
  if (header.getUint32(0, true) !== magicNumber(magic)) {
    throw formatError(source.name, `a ${magic} file`, 'another file');
  }
  const actualVersion = header.getUint32(4, true);
  if (actualVersion !== version) {
    throw formatError(`${source.name}: version`, `${version}`, actualVersion);
  }
  const count = header.getUint32(8, true);
  if (count > SECTIONS_MAX) {
    throw formatError(`${source.name}: sections`, `at most ${SECTIONS_MAX}`, count);
  }
  const sections = new Map<number, Section>();
  let offset = HEADER_BYTES;
  for (let i = 0; i < count; i++) {
    const { id, ...section } = await readSectionHeader(source, i, offset);
    if (sections.has(id)) {
      throw formatError(`${source.name}: section ${id}`, 'one such section', 'two');
    }
    sections.set(id, section);
    offset = section.offset + section.length;
  }
  return { source, sections };
}

async function readSectionHeader(
  source: ByteSource,
  index: number,
  at: number,
): Promise<Section & { readonly id: number }> {
  const offset = at + SECTION_HEADER_BYTES;
  if (offset > source.size) {
    throw formatError(source.name, `a section table entry ${index}`, 'the end of the file');
  }
  const header = viewOf(await source.read(at, SECTION_HEADER_BYTES));
  const id = header.getUint32(0, true);
  const length = header.getBigUint64(4, true);
  const left = source.size - offset;
  if (length > BigInt(left)) {
    throw formatError(
      `${source.name}: section ${id}`,
      `at most the ${left} bytes left in the file`,
      `a length of ${length}`,
    );
  }
  return { id, offset, length: Number(length) };
}

/** The section, which must be there and, where `length` is given, have it. @throws ERR_FORMAT */
export function requireSection(container: Container, id: number, length?: number): Section {
  const subject = `${container.source.name}: section ${id}`;
  const section = container.sections.get(id);
  if (section === undefined) throw formatError(subject, 'such a section', 'none');
  if (length !== undefined && section.length !== length) {
    throw formatError(subject, `${length} bytes`, section.length);
  }
  return section;
}

/**
 * Content of a section that is small by its format; `limit` bounds what is read.
 * @throws ERR_FORMAT
 */
export async function readSmallSection(
  container: Container,
  id: number,
  limit: number,
): Promise<Uint8Array> {
  const { source } = container;
  const section = requireSection(container, id);
  if (section.length > limit) {
    throw formatError(`${source.name}: section ${id}`, `at most ${limit} bytes`, section.length);
  }
  return source.read(section.offset, section.length);
}

export interface SectionContent {
  readonly id: number;
  readonly length: number;
  readonly bytes: ByteStream;
}

/** The bytes of a container file, piece by piece; lengths are known before the content is. */
export function writeContainer(
  magic: string,
  version: number,
  sections: readonly SectionContent[],
): AsyncGenerator<Uint8Array> {
  return inLargePieces(containerParts(magic, version, sections));
}

async function* containerParts(
  magic: string,
  version: number,
  sections: readonly SectionContent[],
): AsyncGenerator<Uint8Array> {
  const header = new Uint8Array(HEADER_BYTES);
  viewOf(header).setUint32(0, magicNumber(magic), true);
  viewOf(header).setUint32(4, version, true);
  viewOf(header).setUint32(8, sections.length, true);
  yield header;
  for (const { id, length, bytes } of sections) {
    const sectionHeader = new Uint8Array(SECTION_HEADER_BYTES);
    viewOf(sectionHeader).setUint32(0, id, true);
    viewOf(sectionHeader).setBigUint64(4, BigInt(length), true);
    yield sectionHeader;
    yield* exactly(length, bytes);
  }
}

function magicNumber(magic: string): number {
  return Buffer.from(magic, 'latin1').readUInt32LE(0);
}
