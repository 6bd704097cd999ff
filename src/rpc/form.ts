import { once } from 'node:events';
import busboy from 'busboy';
import type { Context } from 'hono';
import { ProverError } from '../core/errors.ts';
import { KIB } from '../core/units.ts';
import type { PayloadInfo } from '../jobs/payloads.ts';
import { bodyChunks, checkDeclaredLength, chunksOf, type Env } from './body.ts';

const FIELD_BYTES_MAX = 4 * KIB;
/** Bytes of a form besides its file. */
const OVERHEAD_BYTES_MAX = 64 * KIB;

export interface FormReader {
  /** Names of the text fields it may have, each once. */
  readonly fields: readonly string[];
  /** Name of its one file. */
  readonly file: string;
  readonly fileBytesMax: number;
  /** Takes the file as it arrives. */
  store(file: AsyncIterable<Uint8Array>): Promise<PayloadInfo>;
}

export interface Form {
  readonly fields: Readonly<Record<string, string>>;
  readonly file: PayloadInfo;
}

/**
 * Reads multipart/form-data (RFC 7578) as it arrives: the file goes to `store`, nothing is held but
 * the fields.
 * @throws ERR_PARAMS, ERR_TOO_LARGE and what `store` throws; then `store` has been ended, too
 */
export async function readForm(c: Context<Env>, reader: FormReader): Promise<Form> {
  const bytesMax = reader.fileBytesMax + OVERHEAD_BYTES_MAX;
  checkDeclaredLength(c, bytesMax);
  const parser = openParser(c.req.header('content-type'), reader.fields.length);
  const fields = new Map<string, string>();
  let file: Promise<PayloadInfo> | undefined;
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
      if (name !== reader.file)
        return reject(formError('form', `the file ${reader.file}`, 'another'));
      file = reader.store(chunksOf(stream));
      file.catch((thrown) => reject(stream.errored === null ? thrown : malformed()));
    });
  });
  failed.catch(() => {});
  try {
    await Promise.race([failed, feed(c, parser, bytesMax)]);
    if (file === undefined) throw formError(reader.file, 'a file', 'none');
    return { fields: Object.fromEntries(fields), file: await file };
  } catch (thrown) {
    parser.destroy();
    await file?.catch(() => {});
    throw thrown;
  }
}

function openParser(contentType: string | undefined, fields: number): busboy.Busboy {
  try {
    return busboy({
      headers: { 'content-type': contentType ?? '' },
      limits: { fieldSize: FIELD_BYTES_MAX, fields, files: 1 },
    });
  } catch {
    throw formError('content-type', 'multipart/form-data with a boundary', 'none');
  }
}

/**
 * Writes the body to the parser at the parser's pace. Resolves once everything has been parsed and
 * stored.
 */
async function feed(c: Context<Env>, parser: busboy.Busboy, bytesMax: number): Promise<void> {
  const done = once(parser, 'finish');
  done.catch(() => {});
  let bytes = 0;
  for await (const chunk of bodyChunks(c)) {
    bytes += chunk.length;
    if (bytes > bytesMax)
      throw new ProverError('ERR_TOO_LARGE', { subject: 'body', limit: bytesMax });
    if (parser.destroyed) return;
    if (!parser.write(chunk)) await once(parser, 'drain');
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
  if (name === reader.file) return formError(name, 'a file', 'text');
  if (name === undefined || !reader.fields.includes(name)) {
    const known = [...reader.fields, reader.file].join(', ');
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
