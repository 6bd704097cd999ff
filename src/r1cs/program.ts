import { crc32 } from 'node:zlib';
import { assert } from '../core/assert.ts';
import { readBigIntLE, viewOf } from '../core/bytes.ts';
import { formatError } from '../core/errors.ts';
import { FORMAT } from './program-encoding.ts';
import {
  type Child,
  type Composite,
  type Leaf,
  OPERATION_WORDS,
  type Template,
  type TemplateCounts,
} from './template.ts';

/** A circuit as templates and instances: views of its encoded bytes (docs/program-format.md). */
export interface Program {
  readonly templates: readonly Template[];
  /** The whole circuit: the last of the templates. It has no bound wires. */
  readonly root: Template;
  /** Below r, not zero. */
  readonly coefficients: readonly bigint[];
  readonly labels: readonly string[];
}

/**
 * @param bytes as `recordProgram` makes them, on a multiple of 4; borrowed
 * @throws ERR_FORMAT for another version, or bytes that were damaged
 */
export function readProgram(bytes: Uint8Array): Program {
  checkHeader(bytes);
  const view = viewOf(bytes);
  const u32 = (at: number) => view.getUint32(at, true);
  const u64 = (at: number) => Number(view.getBigUint64(at, true));
  const labels = readLabels(bytes, u64(56), u32(32));
  const words = wordsOf(bytes, u64(64), u64(72));
  const records = wordsOf(bytes, u64(40), u32(24) * FORMAT.templateWords);
  const templates: Template[] = [];
  for (let at = 0; at < records.length; at += FORMAT.templateWords) {
    const record = records.subarray(at, at + FORMAT.templateWords);
    templates.push(readTemplate(record, words, labels, templates));
  }
  const root = templates.at(-1);
  assert(root !== undefined && root.bound === 0, 'program: expected a root without bound wires');
  return { templates, root, coefficients: readScalars(bytes, u64(48), u32(28)), labels };
}

function checkHeader(bytes: Uint8Array): void {
  const view = viewOf(bytes);
  const magic = Buffer.from(bytes.subarray(0, 4)).toString('latin1');
  if (bytes.length < FORMAT.headerBytes || magic !== FORMAT.magic) {
    throw formatError('program', `a program (${FORMAT.magic})`, 'something else');
  }
  const version = view.getUint32(4, true);
  if (version !== FORMAT.version)
    throw formatError('program: version', `${FORMAT.version}`, version);
  const curve = view.getUint32(12, true);
  if (curve !== FORMAT.bls12381) throw formatError('program: curve', `${FORMAT.bls12381}`, curve);
  const size = Number(view.getBigUint64(16, true));
  if (size !== bytes.length) throw formatError('program', `${size} bytes`, bytes.length);
  if (view.getUint32(8, true) !== crc32(bytes.subarray(FORMAT.checkedFrom))) {
    throw formatError('program', 'bytes with its checksum', 'other bytes');
  }
}

function readTemplate(
  record: Uint32Array,
  words: Uint32Array,
  labels: readonly string[],
  known: readonly Template[],
): Template {
  const [kind, label, bound, publics, aux, rows, hints, ...body] = record as unknown as number[];
  const counts = { bound, publics, aux, rows, hints } as TemplateCounts;
  const name = labels[label as number] as string;
  if (kind === FORMAT.composite) return readComposite(name, counts, body, words, known);
  return readLeaf(name, counts, body, words);
}

function readLeaf(
  name: string,
  counts: TemplateCounts,
  body: readonly number[],
  words: Uint32Array,
): Leaf {
  const [lcs, lcEnds, terms, lcsOfRows, operations, lcsOfPublics, marks, marksAt, termCount] =
    body as [number, number, number, number, number, number, number, number, number];
  return {
    ...{ kind: 'leaf', name, ...counts },
    lcEnds: words.subarray(lcEnds, lcEnds + lcs),
    terms: words.subarray(terms, terms + termCount),
    lcsOfRows: words.subarray(lcsOfRows, lcsOfRows + 3 * counts.rows),
    operations: words.subarray(operations, operations + OPERATION_WORDS * counts.aux),
    lcsOfPublics: words.subarray(lcsOfPublics, lcsOfPublics + counts.publics),
    marks: words.subarray(marksAt, marksAt + 2 * marks),
  };
}

function readComposite(
  name: string,
  counts: TemplateCounts,
  [count, at]: readonly number[],
  words: Uint32Array,
  known: readonly Template[],
): Composite {
  const children: Child[] = [];
  for (let i = 0; i < (count as number); i++) {
    const start = (at as number) + i * FORMAT.childWords;
    const record = words.subarray(start, start + FORMAT.childWords) as unknown as number[];
    const [template, label, bindings, publicBase, auxBase, rowBase, hintBase] = record as [
      ...[number, number, number, number, number, number, number],
    ];
    const { bound } = known[template] as Template;
    children.push({
      ...{ template, label, bindings: words.subarray(bindings, bindings + bound) },
      ...{ publicBase, auxBase, rowBase, hintBase },
    });
  }
  return { kind: 'composite', name, ...counts, children };
}

function readLabels(bytes: Uint8Array, at: number, count: number): string[] {
  const ends = wordsOf(bytes, at, count);
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + at + 4 * count);
  return Array.from(ends, (end, i) => text.toString('utf8', i === 0 ? 0 : ends[i - 1], end));
}

function readScalars(bytes: Uint8Array, at: number, count: number): bigint[] {
  return Array.from({ length: count }, (_, i) => {
    const start = at + i * FORMAT.scalarBytes;
    return readBigIntLE(bytes.subarray(start, start + FORMAT.scalarBytes));
  });
}

function wordsOf(bytes: Uint8Array, at: number, count: number): Uint32Array {
  return new Uint32Array(bytes.buffer, bytes.byteOffset + at, count);
}
