import type { JobService } from '../../jobs/service.ts';
import type { KeyCatalog } from '../../keys/stored-key.ts';
import type { ServiceStatus } from '../service-status.ts';
import { circuitId, cuzkNameOf } from './names.ts';
import { wireName } from './request-jobs.ts';

/**
 * The status under cuzk's names: of kinds, of circuits, and of jobs as their clients call them. Our
 * own fields stay.
 */
export async function cuzkStatus(
  report: ServiceStatus,
  { jobs, keys }: { readonly jobs: JobService; readonly keys: Pick<KeyCatalog, 'list'> },
): Promise<object> {
  const known = await keys.list();
  const nameOf = (id: string) => wireName(jobs.get(id));
  const circuitOf = (digest: string) => {
    const key = known.find((each) => each.digest === digest);
    return circuitId(key?.circuit) ?? key?.name ?? digest;
  };
  const kinds = (counts: Readonly<Record<string, number>>) =>
    Object.fromEntries(Object.entries(counts).map(([kind, n]) => [cuzkNameOf(kind), n]));
  const { pipelines, gpu_workers, allocations, counters } = report;
  return {
    ...report,
    pipelines: pipelines.map((pipeline) => ({
      ...pipeline,
      job_id: nameOf(pipeline.job_id),
      proof_kind: cuzkNameOf(pipeline.proof_kind),
    })),
    gpu_workers: gpu_workers.map((worker) => ({
      ...worker,
      current_job: worker.current_job === null ? null : nameOf(worker.current_job),
    })),
    allocations: {
      ...allocations,
      srs: allocations.srs.map((key) => ({ ...key, circuit_id: circuitOf(key.circuit_id) })),
    },
    counters: {
      ...counters,
      completed_by_kind: kinds(counters.completed_by_kind),
      failed_by_kind: kinds(counters.failed_by_kind),
    },
  };
}
