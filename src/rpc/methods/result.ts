import { z } from '@hono/zod-openapi';
import { jobResult } from '../job-view.ts';
import { defineMethod } from '../method.ts';
import { JobId, JobView } from '../schemas.ts';

export const result = defineMethod({
  summary: 'The result of a completed job, or the error that it ended with',
  scope: 'read',
  params: z.strictObject({ job_id: JobId }),
  result: JobView,
  errors: [
    'ERR_JOB_UNKNOWN',
    'ERR_JOB_STATE',
    'ERR_CANCELLED',
    'ERR_FORMAT',
    'ERR_WITNESS_UNSATISFIED',
    'ERR_BACKEND_FAULT',
    'ERR_HOST_CRASHED',
    'ERR_DEVICE_OUT_OF_MEMORY',
  ],
  run: ({ job_id }, call) => jobResult(call.services.jobs.get(job_id), call),
});
