import { expect, it } from 'vitest';
import type { JobService } from '../../../../src/jobs/service.ts';
import { cuzkStatus } from '../../../../src/rpc/grpc/cuzk-status.ts';
import { circuitId, circuitOf } from '../../../../src/rpc/grpc/names.ts';
import type { ServiceStatus } from '../../../../src/rpc/service-status.ts';
import { KEY } from '../../../support/fake-service.ts';

it('calls jobs, kinds and circuits as cuzk does, and changes nothing else', async () => {
  const jobs = {
    get: (id: string) => ({ id, request: id === 'a' ? { label: 'porep-1000-9' } : {} }),
  } as unknown as JobService;
  const keys = { list: async () => [{ ...KEY, circuit: 'snap-deals 64GiB' }] };
  const resident = { bytes: 1, last_used_secs_ago: 0, evictable: true };
  const report = {
    uptime_secs: 1,
    pipelines: [
      { job_id: 'a', proof_kind: 'porep', total_partitions: 10 },
      { job_id: 'b', proof_kind: 'circom', total_partitions: 1 },
    ],
    gpu_workers: [{ current_job: 'a' }, { current_job: null }],
    allocations: { srs: [{ ...resident, circuit_id: KEY.digest }], pce: [] },
    counters: { completed_by_kind: { 'snap-deals': 2 }, failed_by_kind: {}, total_failed: 0 },
  } as unknown as ServiceStatus;
  expect(await cuzkStatus(report, { jobs, keys })).toEqual({
    uptime_secs: 1,
    pipelines: [
      { job_id: 'porep-1000-9', proof_kind: 'porep-c2', total_partitions: 10 },
      { job_id: 'b', proof_kind: 'circom', total_partitions: 1 },
    ],
    gpu_workers: [{ current_job: 'porep-1000-9' }, { current_job: null }],
    allocations: { srs: [{ ...resident, circuit_id: 'snap-64g' }], pce: [] },
    counters: { completed_by_kind: { 'snap-update': 2 }, failed_by_kind: {}, total_failed: 0 },
  });
});

it.each([
  ['porep-32g', 'porep', '32GiB'],
  ['porep-64g', 'porep', '64GiB'],
  ['wpost-32g', 'window-post', '32GiB'],
  ['winning-32g', 'winning-post', '32GiB'],
  ['snap-32g', 'snap-deals', '32GiB'],
  ['snap-64g', 'snap-deals', '64GiB'],
  ['winning-2k', 'winning-post', '2KiB'],
])('%s is a circuit', (id, kind, sectorSize) => {
  expect(circuitOf(id)).toEqual({ kind, sectorSize });
  expect(circuitId(`${kind} ${sectorSize}`)).toBe(id);
});

it.each(['', 'porep', 'porep-', 'porep-32G', 'porep-toString', 'post-32g', 'porep-32g-x'])(
  '%j is none',
  (id) => expect(circuitOf(id)).toBeUndefined(),
);
