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
import { BINARY_PROOF, Binary, prefersBytes, proofBytes } from '../proof-bytes.ts';
import { callOf, json, type Route, responses } from '../route.ts';
import { Backend, JobView, KeyName, Sha256, VANILLA_FILES_MAX } from '../schemas.ts';

const PayloadView = z.object({ sha256: Sha256, bytes: z.int() }).openapi('Payload');

export const payloadsRoute: Route = {
  scope: 'write',
  config: {
    method: 'post',
    path: '/v1/payloads',
    summary: 'Upload a witness, a statement or a vanilla proof; answers the digest to name it by',
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

const { shape } = ProveParams;
const Flag = z.enum(['true', 'false']).optional();
const ProveForm = z
  .object({
    kind: shape.kind.optional().describe('Default: circom'),
    key: KeyName.optional(),
    witness: Binary.optional().describe('circom: a .wtns file'),
    statement: Binary.optional().describe('A statement file, JSON'),
    vanilla: z.array(Binary).optional().describe('Vanilla proofs, a part each'),
    miner: shape.miner,
    sector_number: z.string().optional(),
    partition: z.string().optional(),
    backend: Backend.optional(),
    priority: shape.priority,
    deadline: shape.deadline,
    idempotency_key: shape.idempotency_key,
    strict: Flag,
    wait: Flag,
  })
  .openapi('ProveForm');

const FILES = { witness: 1, statement: 1, vanilla: VANILLA_FILES_MAX } as const;
const FIELDS = Object.keys(ProveForm.shape).filter((name) => !Object.hasOwn(FILES, name));

export const proveRoute: Route = {
  scope: 'write',
  config: {
    method: 'post',
    path: '/v1/prove',
    summary: `${prove.summary}; with \`Accept: application/octet-stream\`, its proof`,
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
      {
        200: {
          description: 'The result',
          content: {
            'application/json': { schema: JobView },
            ...BINARY_PROOF.content,
          },
        },
        202: json('The job; Location names it', JobView),
      },
      ['ERR_PARAMS', 'ERR_MEDIA_TYPE', ...prove.errors],
    ),
  },
  async handle(c, context) {
    const params = await proveParams(c, context);
    const job = await prove.invoke(params, callOf(c, context));
    const location = `/v1/jobs/${job.job_id}`;
    if (job.state !== 'completed') return c.json(job, 202, { location });
    if (!prefersBytes(c)) return c.json(job);
    c.header('location', location);
    return proofBytes(c, job);
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
  const { fields, files } = await readForm(c, {
    fields: FIELDS,
    files: FILES,
    fileBytesMax: context.uploadLimitBytes,
    store: (stream) => payloads.put(stream, context.uploadLimitBytes),
  });
  const named = (wanted: string) =>
    files.filter(({ name }) => name === wanted).map(({ sha256 }) => ({ sha256 }));
  const [[witness], [statement], vanilla] = [
    named('witness'),
    named('statement'),
    named('vanilla'),
  ];
  const { wait, strict, partition, kind = 'circom', ...rest } = fields;
  return {
    kind,
    ...rest,
    ...(witness && { payload: witness }),
    ...(statement && { statement }),
    ...(vanilla.length > 0 && { vanilla }),
    ...(partition !== undefined && { partition: numberField('partition', partition) }),
    ...(strict !== undefined && { strict: booleanField('strict', strict) }),
    ...(wait !== undefined && { wait: booleanField('wait', wait) }),
  };
}

function booleanField(subject: string, text: string): boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  throw new ProverError('ERR_PARAMS', { subject, expected: 'true or false', actual: 'other text' });
}

function numberField(subject: string, text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new ProverError('ERR_PARAMS', { subject, expected: 'a number', actual: 'other text' });
}
