import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Bundles a module of src/ and imports it. */
export async function importSource(entry) {
  const folder = await mkdtemp(join(tmpdir(), 'proofline-generate-'));
  try {
    const outfile = join(folder, 'bundle.mjs');
    const require = "import { createRequire } from 'node:module';";
    await build({
      entryPoints: [join(root, entry)],
      outfile,
      bundle: true,
      format: 'esm',
      platform: 'node',
      banner: { js: `${require} const require = createRequire(import.meta.url);` },
      logLevel: 'warning',
    });
    return await import(pathToFileURL(outfile).href);
  } finally {
    await rm(folder, { recursive: true });
  }
}
