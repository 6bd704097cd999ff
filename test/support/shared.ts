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
  return beside(context, `vectors/${path}`);
}

/** Golden data that is too large to carry; the test skips, saying so, where it is absent. */
export function largeGolden(context: TestContext, path: string): string {
  return beside(context, `golden/${path}`);
}

function beside(context: TestContext, path: string): string {
  const file = SHARED + path;
  if (!existsSync(file)) context.skip(`../shared/${path} is not on this machine`);
  return file;
}
