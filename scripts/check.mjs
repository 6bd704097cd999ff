// Everything that must hold of the tree beside its tests: types, lint and format, architecture, generated files.
import { spawnSync } from 'node:child_process';

const steps = [
  ['types', ['node_modules/typescript/bin/tsc', '--noEmit']],
  ['lint and format', ['node_modules/@biomejs/biome/bin/biome', 'ci', '.']],
  ['architecture', ['node_modules/vitest/vitest.mjs', 'run', 'test/architecture.test.ts']],
  ['generated documents', ['scripts/generate.mjs', '--check']],
  ['generated table of settings', ['scripts/config-table.mjs', '--check']],
];

const failed = steps.filter(([name, command]) => {
  console.log(`check: ${name}`);
  return spawnSync(process.execPath, command, { stdio: 'inherit' }).status !== 0;
});
for (const [name] of failed) console.error(`check: ${name}: failed`);
console.log(`${steps.length - failed.length} passed, ${failed.length} failed`);
process.exitCode = failed.length === 0 ? 0 : 1;
