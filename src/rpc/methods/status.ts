import { z } from '@hono/zod-openapi';
import { jobView } from '../job-view.ts';
import { defineMethod } from '../method.ts';
import { JobId, JobView } from '../schemas.ts';
import { ServiceStatus } from '../service-status.ts';

export const status = defineMethod({
  summary: 'How the service does or, with `job_id`, how that job does',
  scope: 'read',
  params: z.strictObject({ job_id: JobId.optional() }),
  result: z.union([ServiceStatus, JobView]),
  errors: ['ERR_JOB_UNKNOWN'],
  run: ({ job_id }, call) =>
    job_id === undefined ? call.status.report() : jobView(call.services.jobs.get(job_id), call),
});
