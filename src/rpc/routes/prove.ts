import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import { ProverError } from '../../core/errors.ts';
import {
  bodyChunks,
  checkDeclaredLength,
  type Env,
  mediaTypeError,
  mediaTypeOf,
  readJson,
  refuseEncoding,
} from '../body.ts';
import type { ServiceContext } from '../context.ts';
import { readForm } from '../form.ts';
import { ProveParams, prove } from '../methods/prove.ts';
import { callOf, json, type Route, responses } from '../route.ts';
import { Backend, JobView, KeyName, Sha256 } from '../schemas.ts';

const PayloadView = z.object({ sha256: Sha256, bytes: z.int() }).openapi('Payload');
const Binary = z.string().openapi({ format: 'binary' });

export const payloadsRoute: Route = {
  scope: 'write',
  config: {
    method: 'post',
    path: '/v1/payloads',
    summary: 'Upload a witness (.wtns); answers the digest to prove it by',
    request: {
      body: { required: true, content: { 'application/octet-stream': { schema: Binary } } },
    },
    responses: responses({ 201: json('It is stored', PayloadView) }, [
      'ERR_TOO_LARGE',
      'ERR_MEDIA_TYPE',
    ]),
  },
  async handle(c, { services, uploadLimitBytes }) {
    refuseEncoding(c);
    if (mediaTypeOf(c) === 'multipart/form-data') {
      throw mediaTypeError('application/octet-stream', 'a form, which POST /v1/prove takes');
    }
    checkDeclaredLength(c, uploadLimitBytes);
    return c.json(await services.payloads.put(bodyChunks(c), uploadLimitBytes), 201);
  },
};

const ProveForm = z
  .object({
    key: KeyName,
    witness: Binary,
    backend: Backend.optional(),
    priority: ProveParams.shape.priority,
    deadline: ProveParams.shape.deadline,
    idempotency_key: ProveParams.shape.idempotency_key,
    strict: z.enum(['true', 'false']).optional(),
    wait: z.enum(['true', 'false']).optional(),
  })
  .openapi('ProveForm');

export const proveRoute: Route = {
  scope: 'write',
  config: {
    method: 'post',
    path: '/v1/prove',
    summary: prove.summary,
    request: {
      body: {
        required: true,
        content: {
          'multipart/form-data': { schema: ProveForm },
          'application/json': { schema: ProveParams },
        },
      },
    },
    responses: responses(
      { 200: json('The result', JobView), 202: json('The job; Location names it', JobView) },
      ['ERR_PARAMS', 'ERR_MEDIA_TYPE', ...prove.errors],
    ),
  },
  async handle(c, context) {
    const params = await proveParams(c, context);
    const job = await prove.invoke(params, callOf(c, context));
    if (job.state === 'completed') return c.json(job);
    return c.json(job, 202, { location: `/v1/jobs/${job.job_id}` });
  },
};

async function proveParams(c: Context<Env>, context: ServiceContext): Promise<unknown> {
  const type = mediaTypeOf(c);
  if (type === 'application/json') return readJson(c);
  if (type !== 'multipart/form-data') {
    throw mediaTypeError(
      'multipart/form-data or application/json',
      type === '' ? 'none' : 'another',
    );
  }
  refuseEncoding(c);
  const { payloads } = context.services;
  const { fields, file } = await readForm(c, {
    fields: ['key', 'backend', 'priority', 'deadline', 'idempotency_key', 'strict', 'wait'],
    file: 'witness',
    fileBytesMax: context.uploadLimitBytes,
    store: (stream) => payloads.put(stream, context.uploadLimitBytes),
  });
  const { wait, strict, ...named } = fields;
  return {
    kind: 'circom',
    ...named,
    payload: { sha256: file.sha256 },
    ...(strict !== undefined && { strict: booleanField('strict', strict) }),
    ...(wait !== undefined && { wait: booleanField('wait', wait) }),
  };
}

function booleanField(subject: string, text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new ProverError('ERR_PARAMS', { subject, expected: 'true or false', actual: 'other text' });
}
