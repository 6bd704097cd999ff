import { z } from '@hono/zod-openapi';
import { jobView } from '../job-view.ts';
import { defineMethod } from '../method.ts';
import { JobId, JobView } from '../schemas.ts';

export const cancel = defineMethod({
  summary: 'End a queued or running job; one that has settled stays as it is',
  scope: 'write',
  params: z.strictObject({ job_id: JobId }),
  result: JobView,
  errors: ['ERR_JOB_UNKNOWN'],
  run: ({ job_id }, call) => jobView(call.services.jobs.cancel(job_id), call),
});
