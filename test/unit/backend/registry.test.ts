import { describe, expect, it } from 'vitest';
import { cpuReference } from '../../../backends/cpu-reference/backend.ts';
import { BACKEND_API_VERSION, type ProverBackend } from '../../../src/backend/backend.ts';
import { BackendRegistry } from '../../../src/backend/registry.ts';

const working = { name: 'cpu-reference', load: async () => cpuReference } as const;
const broken = {
  name: 'cuda',
  load: async (): Promise<ProverBackend> => {
    throw new Error('cuda.node: expected a built addon, got none');
  },
} as const;
const outdated = {
  name: 'cpu',
  load: async () => ({ ...cpuReference, apiVersion: BACKEND_API_VERSION + 1 }),
} as const;
const absent = {
  name: 'webgpu',
  load: async (): Promise<ProverBackend> => ({
    ...cpuReference,
    probe: async () => ({ available: false, reason: 'no adapter' }),
  }),
} as const;

describe('backend registry', () => {
  const registry = new BackendRegistry([broken, outdated, absent, working]);

  it('says of each backend what it offers or why it does not', async () => {
    const statuses = await registry.probeAll();
    expect(statuses.map(({ name, probe }) => [name, probe.available || probe.reason])).toEqual([
      ['cuda', 'cuda.node: expected a built addon, got none'],
      [
        'cpu',
        `backend API: expected version ${BACKEND_API_VERSION}, got ${BACKEND_API_VERSION + 1}`,
      ],
      ['webgpu', 'no adapter'],
      ['cpu-reference', true],
    ]);
  });

  it.each([
    ['cuda', 'expected a built addon'],
    ['cpu', 'expected version'],
    ['webgpu', 'no adapter'],
  ] as const)('refuses to open %s with its reason', async (name, reason) => {
    const open = registry.open(name, '0', { threads: 1 });
    await expect(open).rejects.toMatchObject({ code: 'ERR_BACKEND_UNAVAILABLE' });
    await expect(open).rejects.toThrow(reason);
  });

  it('opens a backend that works and refuses a device that it does not have', async () => {
    const device = await registry.open('cpu-reference', '0', { threads: 1 });
    expect(device.info.id).toBe('0');
    const other = registry.open('cpu-reference', '7', { threads: 1 });
    await expect(other).rejects.toMatchObject({ code: 'ERR_PARAMS' });
  });

  it('refuses a name that this build does not have', async () => {
    const only = new BackendRegistry([working]);
    await expect(only.open('cuda', '0', { threads: 1 })).rejects.toThrow(
      'backend: expected cpu-reference, got cuda',
    );
  });

  it('loads a backend once, and none before it is asked for', async () => {
    let loads = 0;
    const counted = new BackendRegistry([
      {
        name: 'cpu-reference',
        load: async () => {
          loads++;
          return cpuReference;
        },
      },
    ]);
    expect(loads).toBe(0);
    await counted.probeAll();
    await counted.open('cpu-reference', '0', { threads: 1 });
    expect(loads).toBe(1);
  });

  it('finds another backend that works, or the same again', async () => {
    expect(await registry.otherThan('cuda')).toBe('cpu-reference');
    expect(await registry.otherThan('cpu-reference')).toBe('cpu-reference');
  });
});
