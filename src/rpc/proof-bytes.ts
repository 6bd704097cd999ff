import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { fromHex } from '../core/bytes.ts';
import { ProverError } from '../core/errors.ts';
import type { Env } from './body.ts';
import type { JobView } from './schemas.ts';

const MEDIA_TYPE = 'application/octet-stream';

export const Binary = z.string().openapi({ format: 'binary' });

/** In OpenAPI. */
export const BINARY_PROOF = {
  description: 'The proof',
  content: { [MEDIA_TYPE]: { schema: Binary } },
};

/** The bytes are asked for by name, and JSON is not. */
export function prefersBytes(c: Context<Env>): boolean {
  const accept = c.req.header('accept') ?? '';
  return accept.includes(MEDIA_TYPE) && !accept.includes('application/json');
}

/** @throws ERR_PARAMS for a job of a circom circuit */
export function proofBytes(c: Context<Env>, job: z.output<typeof JobView>): Response {
  if (job.kind === 'circom') throw otherKind('a circuit of Filecoin', job.kind);
  const bytes = fromHex('proof', job.proof ?? '');
  return c.body(bytes as Uint8Array<ArrayBuffer>, 200, { 'content-type': MEDIA_TYPE });
}

export function otherKind(expected: string, actual: string): ProverError {
  return new ProverError('ERR_PARAMS', { subject: 'job', expected: `one of ${expected}`, actual });
}
