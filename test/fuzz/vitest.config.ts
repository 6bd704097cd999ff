import { defineConfig } from 'vitest/config';

/** The long form of the fuzz test: `npm run fuzz`. */
export default defineConfig({
  test: {
    include: ['test/fuzz/*.fuzz.ts'],
    reporters: ['default', './test/support/plain-reporter.ts'],
    testTimeout: 2 * 3_600_000,
  },
});
