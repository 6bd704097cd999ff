// Writes openapi/openapi.json and openapi/openrpc.json from the schemas of src/rpc.
// With --check it writes nothing and exits 1 where a document on disk differs.
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const check = process.argv.includes('--check');
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
const { openapiDocument, openrpcDocument } = await importSource('src/rpc/documents.ts');

const documents = {
  'openapi/openapi.json': openapiDocument(version),
  'openapi/openrpc.json': openrpcDocument(version),
};
for (const [path, document] of Object.entries(documents)) {
  const text = `${JSON.stringify(document, null, 2)}\n`;
  if (!check) {
    await mkdir(join(root, 'openapi'), { recursive: true });
    await writeFile(join(root, path), text);
  } else if ((await readFile(join(root, path), 'utf8').catch(() => '')) !== text) {
    console.error(`${path}: differs from src/rpc; run \`npm run generate\` and commit the result`);
    process.exitCode = 1;
  }
}

async function importSource(entry) {
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
