import { describe } from 'vitest';
import { cpuBackend } from '../../backends/cpu/backend.ts';
import { backendConformance } from './suite.ts';

const probe = await cpuBackend.probe();

describe('cpu', () => {
  backendConformance({
    make: () => cpuBackend,
    sizes: [1, 2, 7, 64, 256, 1024],
    abortSize: 1024,
    ...(probe.available ? {} : { skip: [{ test: '', reason: `cpu: ${probe.reason}` }] }),
  });
});
