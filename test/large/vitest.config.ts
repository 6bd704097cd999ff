import { defineConfig } from 'vitest/config';

/** What takes minutes: `npm run test:large`. */
export default defineConfig({
  test: {
    include: ['test/large/*.large.ts'],
    globalSetup: ['test/support/build.ts'],
    reporters: ['default', './test/support/plain-reporter.ts'],
    testTimeout: 1_800_000,
    pool: 'forks',
    maxWorkers: 1,
  },
});
