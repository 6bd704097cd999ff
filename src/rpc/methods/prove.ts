import { z } from '@hono/zod-openapi';
import type { Micros } from '../../core/units.ts';
import { isSettled, PRIORITIES } from '../../jobs/job.ts';
import type { Call } from '../context.ts';
import { jobResult, jobView } from '../job-view.ts';
import { defineMethod } from '../method.ts';
import { Backend, INLINE_PAYLOAD_BYTES_MAX, JobView, KeyName, Payload } from '../schemas.ts';

export const ProveParams = z
  .strictObject({
    kind: z.literal('circom').describe('What is proved: a circom witness against a zkey'),
    key: KeyName,
    payload: Payload,
    backend: Backend.optional().describe('Default: the fastest that works here'),
    priority: z
      .enum(PRIORITIES)
      .optional()
      .describe('A class starts before those after it; default: normal'),
    deadline: z.iso
      .datetime({ offset: true })
      .optional()
      .describe('The job fails if it has no result by then'),
    strict: z.boolean().optional().describe('Fail rather than take the proof of another backend'),
    idempotency_key: z
      .string()
      .regex(/^[\x21-\x7e]{1,128}$/, 'expected 1 to 128 printable characters')
      .optional()
      .describe('Requests with one key and one content are one job; another content is refused'),
    wait: z.boolean().default(false).describe('Answer with the result instead of the job'),
  })
  .openapi('ProveParams');

export const prove = defineMethod({
  summary: 'Submit a proof: answers the job at once or, with `wait`, its result',
  scope: 'write',
  params: ProveParams,
  result: JobView,
  errors: [
    'ERR_KEY_UNKNOWN',
    'ERR_KEY_DAMAGED',
    'ERR_PAYLOAD_UNKNOWN',
    'ERR_TOO_LARGE',
    'ERR_BACKEND_UNAVAILABLE',
    'ERR_DEADLINE',
    'ERR_IDEMPOTENCY',
    'ERR_PAYLOAD_CORRUPT',
    'ERR_QUARANTINED',
    'ERR_STORAGE',
    'ERR_QUEUE_FULL',
    'ERR_SHUTTING_DOWN',
    'ERR_FORMAT',
    'ERR_WITNESS_UNSATISFIED',
    'ERR_BACKEND_FAULT',
    'ERR_HOST_CRASHED',
    'ERR_DEVICE_OUT_OF_MEMORY',
    'ERR_CANCELLED',
    'ERR_JOB_STATE',
  ],
  async run({ kind, key, payload, backend, wait, ...options }, call) {
    const { jobs } = call.services;
    call.quota.check(call.caller.id);
    const sha256 = 'sha256' in payload ? payload.sha256 : await store(payload.base64, call);
    const job = await jobs.submit(
      {
        ...{ kind, key, payload: sha256 },
        ...(backend !== undefined && { backend }),
        ...(options.priority !== undefined && { priority: options.priority }),
        ...(options.strict !== undefined && { strict: options.strict }),
        ...(options.deadline !== undefined && {
          deadline: (Date.parse(options.deadline) * 1000) as Micros,
        }),
        ...(options.idempotency_key !== undefined && {
          idempotencyKey: options.idempotency_key,
        }),
      },
      call.traceparent === undefined ? {} : { traceparent: call.traceparent },
    );
    if (!isSettled(job.state)) call.quota.add(call.caller.id, job.id);
    if (!wait) return jobView(job, call);
    return jobResult(await jobs.settled(job.id, call.signal), call);
  },
});

async function store(base64: string, { services }: Call): Promise<string> {
  async function* body() {
    yield Buffer.from(base64, 'base64');
  }
  return (await services.payloads.put(body(), INLINE_PAYLOAD_BYTES_MAX)).sha256;
}
