import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { TestContext } from 'vitest';

const SHARED = fileURLToPath(new URL('../../../shared/', import.meta.url));
const GOLDEN = fileURLToPath(new URL('../golden/', import.meta.url));

/** A file of `test/golden`, which is always there. */
export function golden(path: string): string {
  return GOLDEN + path;
}

/** A public vector that the project does not carry; the test skips, saying so, where it is absent. */
export function vector(context: TestContext, path: string): string {
  const file = `${SHARED}vectors/${path}`;
  if (!existsSync(file)) context.skip(`../shared/vectors/${path} is not on this machine`);
  return file;
}
