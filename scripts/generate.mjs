// Writes openapi/openapi.json and openapi/openrpc.json from the schemas of src/rpc.
// With --check it writes nothing and exits 1 where a document on disk differs.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { importSource } from './import-source.mjs';

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
