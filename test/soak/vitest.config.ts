import { defineConfig } from 'vitest/config';

/** The long form of the soak test: `npm run soak`. */
export default defineConfig({
  test: {
    include: ['test/soak/*.soak.ts'],
    globalSetup: ['test/support/build.ts'],
    reporters: ['default', './test/support/plain-reporter.ts'],
    testTimeout: 1_800_000,
  },
});
