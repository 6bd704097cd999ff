import { crc32 } from 'node:zlib';
import { viewOf, writeBigIntLE } from '../core/bytes.ts';
import type { Interner, TemplateLibrary } from './recorder-library.ts';
import type { Child, Leaf, Template } from './template.ts';

/** Layout of an encoded program; its fields are described in docs/program-format.md. */
export const FORMAT = {
  magic: 'PLCP',
  version: 1,
  /** Of the curve whose scalars the coefficients are. */
  bls12381: 1,
  headerBytes: 128,
  checkedFrom: 16,
  alignment: 64,
  scalarBytes: 32,
  templateWords: 16,
  childWords: 8,
  leaf: 0,
  composite: 1,
} as const;

/** The program whose root is the last template of the library. */
export function encodeProgram(library: TemplateLibrary): Uint8Array {
  const words = new WordWriter();
  const records = library.templates.map((template) => encodeTemplate(template, library, words));
  const sections = [
    Uint32Array.from(records.flat()),
    encodeCoefficients(library.coefficients),
    encodeLabels(library.labels),
    words.finish(),
  ].map(bytesOf);
  const offsets: number[] = [];
  let size: number = FORMAT.headerBytes;
  for (const section of sections) {
    offsets.push(size);
    size += Math.ceil(section.length / FORMAT.alignment) * FORMAT.alignment;
  }
  const bytes = new Uint8Array(size);
  for (const [i, section] of sections.entries()) bytes.set(section, offsets[i]);
  const view = viewOf(bytes);
  bytes.set(Buffer.from(FORMAT.magic), 0);
  view.setUint32(4, FORMAT.version, true);
  view.setUint32(12, FORMAT.bls12381, true);
  view.setBigUint64(16, BigInt(size), true);
  view.setUint32(24, library.templates.length, true);
  view.setUint32(28, library.coefficients.length, true);
  view.setUint32(32, library.labels.values.length, true);
  for (const [i, offset] of [...offsets, words.length].entries()) {
    view.setBigUint64(40 + 8 * i, BigInt(offset), true);
  }
  view.setUint32(8, crc32(bytes.subarray(FORMAT.checkedFrom)), true);
  return bytes;
}

function encodeTemplate(
  template: Template,
  library: TemplateLibrary,
  words: WordWriter,
): readonly number[] {
  const { bound, publics, aux, rows, hints } = template;
  const kind = template.kind === 'leaf' ? FORMAT.leaf : FORMAT.composite;
  const head = [kind, library.labels.index(template.name), bound, publics, aux, rows, hints];
  const body =
    template.kind === 'leaf'
      ? encodeLeaf(template, words)
      : encodeChildren(template.children, words);
  return [...head, ...body, ...new Array(FORMAT.templateWords - head.length - body.length).fill(0)];
}

function encodeLeaf(leaf: Leaf, words: WordWriter): number[] {
  return [
    leaf.lcEnds.length,
    words.add(leaf.lcEnds),
    words.add(leaf.terms),
    words.add(leaf.lcsOfRows),
    words.add(leaf.operations),
    words.add(leaf.lcsOfPublics),
    leaf.marks.length / 2,
    words.add(leaf.marks),
    leaf.terms.length,
  ];
}

function encodeChildren(children: readonly Child[], words: WordWriter): number[] {
  const records = children.flatMap((child) => [
    ...[child.template, child.label, words.add(child.bindings)],
    ...[child.publicBase, child.auxBase, child.rowBase, child.hintBase, 0],
  ]);
  return [children.length, words.add(Uint32Array.from(records))];
}

function encodeCoefficients(values: readonly bigint[]): Uint8Array {
  const bytes = new Uint8Array(values.length * FORMAT.scalarBytes);
  for (const [i, value] of values.entries()) {
    bytes.set(writeBigIntLE(value, FORMAT.scalarBytes), i * FORMAT.scalarBytes);
  }
  return bytes;
}

/** Where each text ends, then the texts. */
function encodeLabels({ values }: Interner<string>): Uint8Array {
  const texts = values.map((label) => Buffer.from(label));
  let end = 0;
  const ends = Uint32Array.from(texts, (text) => {
    end += text.length;
    return end;
  });
  return Buffer.concat([bytesOf(ends), ...texts]);
}

function bytesOf(array: Uint8Array | Uint32Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
}

/** Arrays of u32 one after another; each has the index of its first word. */
class WordWriter {
  readonly #parts: Uint32Array[] = [];
  length = 0;

  add(part: Uint32Array): number {
    const start = this.length;
    this.#parts.push(part);
    this.length += part.length;
    return start;
  }

  finish(): Uint32Array {
    const words = new Uint32Array(this.length);
    let at = 0;
    for (const part of this.#parts) {
      words.set(part, at);
      at += part.length;
    }
    return words;
  }
}
