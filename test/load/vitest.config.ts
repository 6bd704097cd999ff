import { defineConfig } from 'vitest/config';

/** The long form of the load test: `npm run load`. */
export default defineConfig({
  test: {
    include: ['test/load/*.load.ts'],
    globalSetup: ['test/support/build.ts'],
    reporters: ['default', './test/support/plain-reporter.ts'],
    testTimeout: 1_800_000,
  },
});
