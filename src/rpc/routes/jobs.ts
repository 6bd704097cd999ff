import { z } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { Micros } from '../../core/units.ts';
import type { Timeline } from '../../trace/timeline.ts';
import { drawWaterfall } from '../../trace/waterfall.ts';
import type { Env } from '../body.ts';
import { jobSummary } from '../job-view.ts';
import { type Method, parseParams } from '../method.ts';
import { cancel } from '../methods/cancel.ts';
import { result } from '../methods/result.ts';
import { status } from '../methods/status.ts';
import { TimelineView, timeline } from '../methods/timeline.ts';
import { BINARY_PROOF, otherKind, proofBytes } from '../proof-bytes.ts';
import { callOf, json, type Route, responses } from '../route.ts';
import { JobId, JobState, JobSummary, JobView, KeyName, SnarkjsProof } from '../schemas.ts';

const JOBS_A_PAGE_MAX = 1000;

const JobsQuery = z.strictObject({
  state: JobState.optional(),
  key: KeyName.optional().describe('As it was named when the job was submitted, or its digest'),
  since: z.iso.datetime().optional().describe('Submitted at this time or later'),
  limit: z.coerce.number().int().min(1).max(JOBS_A_PAGE_MAX).default(100),
  cursor: z
    .string()
    .regex(/^[0-9a-z]{1,10}$/, 'expected next_cursor of another page')
    .optional()
    .describe('`next_cursor` of the page before'),
});
const JobsPage = z
  .object({
    jobs: z.array(JobSummary),
    next_cursor: z.string().optional().describe('There may be older jobs: ask for them by this'),
  })
  .openapi('JobList');

const request = { params: z.object({ job_id: JobId }) };

export const jobsRoute: Route = {
  scope: 'read',
  config: {
    method: 'get',
    path: '/v1/jobs',
    summary: 'Jobs, newest first, without their proofs',
    request: { query: JobsQuery },
    responses: responses({ 200: json('Jobs', JobsPage) }, ['ERR_PARAMS']),
  },
  handle(c, context) {
    const { cursor, since, limit, state, key } = parseParams(JobsQuery, c.req.query());
    const jobs = context.services.jobs.list({
      limit,
      ...(state !== undefined && { state }),
      ...(key !== undefined && { key }),
      ...(since !== undefined && { since: (Date.parse(since) * 1000) as Micros }),
      ...(cursor !== undefined && { before: Number.parseInt(cursor, 36) }),
    });
    const last = jobs.length === limit ? jobs.at(-1) : undefined;
    return c.json({
      jobs: jobs.map((job) => jobSummary(job, context)),
      ...(last && { next_cursor: last.sequence.toString(36) }),
    });
  },
};

export const jobRoute: Route = {
  scope: 'read',
  config: {
    method: 'get',
    path: '/v1/jobs/{job_id}',
    summary: 'How a job does, with its proof once it is completed',
    request,
    responses: responses({ 200: json('The job', JobView) }, ['ERR_PARAMS', ...status.errors]),
  },
  handle: async (c, context) => c.json(await status.invoke(idOf(c), callOf(c, context))),
};

export const cancelRoute: Route = {
  scope: 'write',
  config: {
    method: 'post',
    path: '/v1/jobs/{job_id}/cancel',
    summary: cancel.summary,
    request,
    responses: responses({ 200: json('The job', JobView) }, ['ERR_PARAMS', ...cancel.errors]),
  },
  handle: async (c, context) => c.json(await cancel.invoke(idOf(c), callOf(c, context))),
};

/** A part of the result, as a file of the bytes that snarkjs writes. */
function resultFile(name: 'proof' | 'public', schema: z.ZodType): Route {
  return {
    scope: 'read',
    config: {
      method: 'get',
      path: `/v1/jobs/{job_id}/${name}.json`,
      summary: `The file ${name}.json of snarkjs, of a circom circuit`,
      request,
      responses: responses({ 200: json('The file', schema) }, ['ERR_PARAMS', ...result.errors]),
    },
    async handle(c, context) {
      const job = await result.invoke(idOf(c), callOf(c, context));
      if (job.kind !== 'circom') throw otherKind('circom', job.kind);
      return c.body(snarkjsText(job[name]), 200, { 'content-type': 'application/json' });
    },
  };
}

/** One space a level, and an empty array on two lines: bfj's form, which snarkjs writes. */
function snarkjsText(value: unknown): string {
  return JSON.stringify(value, null, 1).replace(/^\[\]$/, '[\n]');
}

export const proofRoute = resultFile('proof', SnarkjsProof);
export const publicRoute = resultFile('public', z.array(z.string()));

export const proofBytesRoute: Route = {
  scope: 'read',
  config: {
    method: 'get',
    path: '/v1/jobs/{job_id}/proof.bin',
    summary: 'The proof as Lotus and Curio take it: 192 bytes for each partition, in their order',
    request,
    responses: responses({ 200: BINARY_PROOF }, ['ERR_PARAMS', ...result.errors]),
  },
  async handle(c, context) {
    return proofBytes(c, await result.invoke(idOf(c), callOf(c, context)));
  },
};

export const timelineRoute: Route = {
  scope: 'read',
  config: {
    method: 'get',
    path: '/v1/jobs/{job_id}/timeline',
    summary: `${timeline.summary}; as a waterfall with \`Accept: text/plain\``,
    request,
    responses: responses(
      {
        200: {
          description: 'The timeline',
          content: {
            'application/json': { schema: TimelineView },
            'text/plain': { schema: z.string() },
          },
        },
      },
      ['ERR_PARAMS', ...timeline.errors],
    ),
  },
  async handle(c, context) {
    const view = await timeline.invoke(idOf(c), callOf(c, context));
    return prefersText(c) ? c.text(drawWaterfall(view as Timeline)) : c.json(view);
  },
};

function idOf(c: Context<Env>): Parameters<Method['invoke']>[0] {
  return { job_id: c.req.param('job_id') };
}

/** text/plain is asked for by name, and JSON is not. */
function prefersText(c: Context<Env>): boolean {
  const accept = c.req.header('accept') ?? '';
  return /\btext\/plain\b/.test(accept) && !/\bapplication\/json\b/.test(accept);
}
