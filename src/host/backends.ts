import { BackendRegistry } from '../backend/registry.ts';

/**
 * Every backend there is, fastest first. Each is loaded when it is first asked for, here in the
 * host only.
 */
export function createBackends(): BackendRegistry {
  return new BackendRegistry([
    {
      name: 'cuda',
      load: async () => (await import('../../backends/cuda/backend.ts')).cudaBackend,
    },
    { name: 'cpu', load: async () => (await import('../../backends/cpu/backend.ts')).cpuBackend },
    {
      name: 'cpu-reference',
      load: async () => (await import('../../backends/cpu-reference/backend.ts')).cpuReference,
    },
  ]);
}
