import type { Reporter, TestModule } from 'vitest/node';

/** Prints why each skipped test was skipped and, last, one plain line: `N passed, N failed, N skipped`. */
export default class PlainReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const counts = { passed: 0, failed: 0, skipped: 0 };
    for (const module of modules) {
      if (module.state() === 'failed' && module.children.size === 0) counts.failed++;
      for (const test of module.children.allTests()) {
        const result = test.result();
        if (result.state === 'passed') counts.passed++;
        else if (result.state === 'failed') counts.failed++;
        else {
          counts.skipped++;
          const note = result.state === 'skipped' ? result.note : undefined;
          console.log(`skipped: ${test.fullName}: ${note ?? 'no reason given'}`);
        }
      }
    }
    console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  }
}
