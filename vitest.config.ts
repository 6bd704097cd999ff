import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

const UNIT = ['test/unit/**/*.test.ts', 'test/architecture.test.ts'];
const common = { testTimeout: 30_000, pool: 'forks' } as const;

/** Unit tests share the processor; tests of whole processes, some of them by the clock, take turns. */
export default defineConfig({
  test: {
    globalSetup: ['test/support/build.ts'],
    reporters: ['default', './test/support/plain-reporter.ts'],
    projects: [
      {
        test: {
          ...common,
          name: 'unit',
          include: UNIT,
          maxWorkers: availableParallelism(),
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          ...common,
          name: 'system',
          include: ['test/**/*.test.ts'],
          exclude: UNIT,
          maxWorkers: 1,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
});
