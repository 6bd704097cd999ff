import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

let root: string | undefined;

/** A folder that is gone with this process. */
export function temporaryFolder(): string {
  if (root === undefined) {
    const made = mkdtempSync(join(tmpdir(), 'proofline-test-'));
    process.once('exit', () => rmSync(made, { recursive: true, force: true }));
    // How vitest ends its workers.
    process.once('SIGTERM', () => process.exit());
    root = made;
  }
  return mkdtempSync(join(root, 'f-'));
}
