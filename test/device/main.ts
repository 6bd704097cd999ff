import '../conformance/cuda.test.ts';
import './cuda.test.ts';
// In the bundle that pack.mjs makes, `vitest` is vitest.ts.
import { runTests } from './vitest.ts';

process.exitCode = (await runTests(process.argv[2])) === 0 ? 0 : 1;
