import { once } from 'node:events';
import type { Readable } from 'node:stream';
import busboy from 'busboy';
import type { Context } from 'hono';
import { ProverError } from '../core/errors.ts';
import { KIB } from '../core/units.ts';
import type { PayloadInfo } from '../jobs/payloads.ts';
import { bodyChunks, checkDeclaredLength, chunksOf, type Env } from './body.ts';

const FIELD_BYTES_MAX = 4 * KIB;
/** Bytes of a form besides its files. */
const OVERHEAD_BYTES_MAX = 64 * KIB;
/** Bytes around each file. */
const PART_BYTES_MAX = KIB;

export interface FormReader {
  /** Names of the text fields it may have, each once. */
  readonly fields: readonly string[];
  /** Names of the files it may have, and how many of each. */
  readonly files: Readonly<Record<string, number>>;
  /** Of all files together. */
  readonly fileBytesMax: number;
  /** Takes a file as it arrives. */
  store(file: AsyncIterable<Uint8Array>): Promise<PayloadInfo>;
}

export interface Form {
  readonly fields: Readonly<Record<string, string>>;
  /** In order of arrival. */
  readonly files: readonly (PayloadInfo & { readonly name: string })[];
}

/**
 * Reads multipart/form-data (RFC 7578) as it arrives: files go to `store`, nothing is held but the
 * fields.
 * @throws ERR_PARAMS, ERR_TOO_LARGE and what `store` throws; then `store` has been ended, too
 */
export async function readForm(c: Context<Env>, reader: FormReader): Promise<Form> {
  const parts = Object.values(reader.files).reduce((sum, count) => sum + count, 0);
  const bytesMax = reader.fileBytesMax + OVERHEAD_BYTES_MAX + parts * PART_BYTES_MAX;
  checkDeclaredLength(c, bytesMax);
  const parser = openParser(c.req.header('content-type'), reader.fields.length, parts);
  const fields = new Map<string, string>();
  const files = new Files(reader);
  const failed = new Promise<never>((_, reject) => {
    parser.on('error', () => reject(malformed()));
    for (const limit of ['fieldsLimit', 'filesLimit'] as const) {
      parser.on(limit, () => reject(formError('form', 'each field once', 'more')));
    }
    parser.on('field', (name, value, { valueTruncated }) => {
      const problem = fieldError(name, valueTruncated, reader, fields);
      if (problem === undefined) fields.set(name, value);
      else reject(problem);
    });
    parser.on('file', (name, stream) => {
      stream.on('error', () => {});
      try {
        files.take(name, stream).catch((thrown) => {
          reject(stream.errored === null ? thrown : malformed());
        });
      } catch (thrown) {
        reject(thrown);
      }
    });
  });
  failed.catch(() => {});
  try {
    await Promise.race([failed, feed(c, parser, reader.fileBytesMax, files)]);
    return { fields: Object.fromEntries(fields), files: await files.all() };
  } catch (thrown) {
    parser.destroy();
    await files.all().catch(() => {});
    throw thrown;
  }
}

/** The files of a form, each on its way to the store as soon as it begins to arrive. */
class Files {
  readonly #reader: FormReader;
  readonly #taken: Promise<Form['files'][number]>[] = [];
  readonly #counts = new Map<string, number>();
  /** Arrived, and perhaps not yet stored. */
  #arrived: Promise<unknown>[] = [];

  constructor(reader: FormReader) {
    this.#reader = reader;
  }

  get count(): number {
    return this.#taken.length;
  }

  /** @throws ERR_PARAMS */
  take(name: string | undefined, stream: Readable): Promise<unknown> {
    const known = this.#reader.files;
    if (name === undefined || !Object.hasOwn(known, name)) {
      const names = Object.keys(known).join(', ');
      throw formError('form', `only the files ${names}`, 'another');
    }
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    const most = known[name] as number;
    if (count > most) throw formError(name, `at most ${most === 1 ? 'one' : most}`, 'more');
    const file = this.#reader.store(chunksOf(stream)).then((info) => ({ ...info, name }));
    file.catch(() => {});
    stream.once('end', () => this.#arrived.push(file.catch(() => {})));
    this.#taken.push(file);
    return file;
  }

  /** Whatever has arrived is stored: so few files are open at a time. */
  async settle(): Promise<void> {
    const arrived = this.#arrived;
    this.#arrived = [];
    await Promise.all(arrived);
  }

  /** Resolves or rejects once none is on its way. */
  async all(): Promise<Form['files']> {
    await Promise.allSettled(this.#taken);
    return Promise.all(this.#taken);
  }
}

function openParser(contentType: string | undefined, fields: number, files: number): busboy.Busboy {
  try {
    return busboy({
      headers: { 'content-type': contentType ?? '' },
      limits: { fieldSize: FIELD_BYTES_MAX, fields, files },
    });
  } catch {
    throw formError('content-type', 'multipart/form-data with a boundary', 'none');
  }
}

/**
 * Writes the body to the parser at the parser's pace. Resolves once everything has been parsed and
 * stored.
 */
async function feed(
  c: Context<Env>,
  parser: busboy.Busboy,
  fileBytesMax: number,
  files: Files,
): Promise<void> {
  const done = once(parser, 'finish');
  done.catch(() => {});
  let bytes = 0;
  for await (const chunk of bodyChunks(c)) {
    bytes += chunk.length;
    const limit = fileBytesMax + OVERHEAD_BYTES_MAX + files.count * PART_BYTES_MAX;
    if (bytes > limit) throw new ProverError('ERR_TOO_LARGE', { subject: 'body', limit });
    if (parser.destroyed) return;
    if (!parser.write(chunk)) await once(parser, 'drain');
    await files.settle();
  }
  parser.end();
  await done;
}

function fieldError(
  name: string | undefined,
  truncated: boolean,
  reader: FormReader,
  seen: ReadonlyMap<string, string>,
): ProverError | undefined {
  if (name !== undefined && Object.hasOwn(reader.files, name)) {
    return formError(name, 'a file', 'text');
  }
  if (name === undefined || !reader.fields.includes(name)) {
    const known = [...reader.fields, ...Object.keys(reader.files)].join(', ');
    return formError('form', `only the fields ${known}`, 'another one');
  }
  if (seen.has(name)) return formError(name, 'the field once', 'it twice');
  if (truncated) return formError(name, `at most ${FIELD_BYTES_MAX} bytes`, 'more');
  return undefined;
}

function malformed(): ProverError {
  return formError('form', 'complete and well-formed parts', 'something else');
}

function formError(subject: string, expected: string, actual: string): ProverError {
  return new ProverError('ERR_PARAMS', { subject, expected, actual });
}
