import { z } from '@hono/zod-openapi';
import type { Micros } from '../../core/units.ts';
import { isSettled, JOB_KINDS, type JobRequest, PRIORITIES } from '../../jobs/job.ts';
import { jobResult, jobView } from '../job-view.ts';
import { defineMethod } from '../method.ts';
import { sourceOf } from '../prove-source.ts';
import {
  Backend,
  ForeignJson,
  JobView,
  KeyName,
  MinerAddress,
  Payload,
  SectorNumber,
  Sha256,
  VANILLA_FILES_MAX,
} from '../schemas.ts';

const StatementParam = z
  .union(
    [z.strictObject({ sha256: Sha256 }), ForeignJson.refine((value) => !('sha256' in value))],
    { error: 'expected a JSON object of few levels, or {sha256} of an upload' },
  )
  .describe('What is proved, in the terms of the chain, or the digest of an upload that says so');

export const ProveParams = z
  .strictObject({
    kind: z
      .enum(JOB_KINDS, { error: `expected one of ${JOB_KINDS.join(', ')}` })
      .describe('What is proved: a circom witness, or a proof of Filecoin'),
    key: KeyName.optional().describe(
      'Name or SHA-256 of a stored key. Needed for circom; else the stored key that fits',
    ),
    payload: Payload.optional().describe('circom: the witness (.wtns)'),
    statement: StatementParam.optional(),
    miner: MinerAddress.optional().describe(
      'porep, instead of a statement: whose sector; the rest is read from the vanilla proof',
    ),
    sector_number: SectorNumber.optional().describe(
      'porep, instead of a statement; may be missing where the vanilla proof says it (SectorNum)',
    ),
    vanilla: z
      .array(Payload)
      .min(1, 'expected at least one')
      .max(VANILLA_FILES_MAX, `expected at most ${VANILLA_FILES_MAX}`)
      .optional()
      .describe(
        'Vanilla proofs. porep: the output of its first phase; winning-post: one; window-post: ' +
          'one a sector, in any order; snap-deals: one a partition, in their order',
      ),
    partition: z
      .int()
      .nonnegative()
      .optional()
      .describe('Prove this partition only; default: all of them'),
    backend: Backend.optional().describe('Default: the fastest that works here'),
    priority: z
      .enum(PRIORITIES)
      .optional()
      .describe(
        'A class starts before those after it; default: critical for winning-post, high for ' +
          'window-post, else normal',
      ),
    deadline: z.iso
      .datetime({ offset: true, error: 'expected a time such as 2027-01-31T12:00:00Z' })
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
  async run(params, call) {
    const { jobs } = call.services;
    call.quota.check(call.caller.id);
    const request: JobRequest = { ...(await sourceOf(params, call)), ...optionsOf(params) };
    const { traceparent } = call;
    const job = await jobs.submit(request, traceparent === undefined ? {} : { traceparent });
    if (!isSettled(job.state)) call.quota.add(call.caller.id, job.id);
    if (!params.wait) return jobView(job, call);
    return jobResult(await jobs.settled(job.id, call.signal), call);
  },
});

function optionsOf(params: z.output<typeof ProveParams>) {
  const { backend, priority, strict, deadline, idempotency_key: idempotencyKey } = params;
  return {
    ...(backend !== undefined && { backend }),
    ...(priority !== undefined && { priority }),
    ...(strict !== undefined && { strict }),
    ...(deadline !== undefined && { deadline: (Date.parse(deadline) * 1000) as Micros }),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  };
}
