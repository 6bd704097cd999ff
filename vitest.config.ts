import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    globalSetup: ['test/support/build.ts'],
    reporters: ['default', './test/support/plain-reporter.ts'],
    testTimeout: 30_000,
    pool: 'forks',
  },
});
