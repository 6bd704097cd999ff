import { execFileSync } from 'node:child_process';

/** Tests run the bundles that ship (`dist/`), so they are built once before the first test. */
export default function build(): void {
  execFileSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' });
}
