import { afterAll, beforeAll, describe } from 'vitest';
import { loadAddon } from '../../backends/cuda/addon.ts';
import { cudaBackend } from '../../backends/cuda/backend.ts';
import { withResidency } from '../support/residency.ts';
import { backendConformance } from './suite.ts';

const probe = await cudaBackend.probe();
const loaded = loadAddon();
const useGuards = (on: boolean) => 'addon' in loaded && loaded.addon.useGuards(on);

/** Blocks have guards here, so that a write beyond an array fails the call that made it. */
describe.each(['device', 'pinned', 'mapped'] as const)('cuda, key %s', (residency) => {
  beforeAll(() => void useGuards(true));
  afterAll(() => void useGuards(false));
  backendConformance({
    make: () => withResidency(cudaBackend, residency),
    sizes: residency === 'device' ? [1, 2, 7, 64, 256, 1024] : [7, 1024],
    abortSize: 1024,
    ...(probe.available ? {} : { skip: [{ test: '', reason: `cuda: ${probe.reason}` }] }),
  });
});
