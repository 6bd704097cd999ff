// Writes openapi/openapi.json, openapi/openrpc.json and src/client/types.ts from the schemas of src/rpc.
// With --check it writes nothing and exits 1 where a document on disk differs.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compile } from 'json-schema-to-typescript';
import { importSource } from './import-source.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const check = process.argv.includes('--check');
const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
const { openapiDocument, openrpcDocument } = await importSource('src/rpc/documents.ts');

const documents = {
  'openapi/openapi.json': openapiDocument(version),
  'openapi/openrpc.json': openrpcDocument(version),
};
const files = {
  ...Object.fromEntries(
    Object.entries(documents).map(([path, document]) => [
      path,
      `${JSON.stringify(document, null, 2)}\n`,
    ]),
  ),
  'src/client/types.ts': await clientTypes(documents['openapi/openapi.json']),
};
for (const [path, text] of Object.entries(files)) {
  if (!check) {
    await mkdir(join(root, 'openapi'), { recursive: true });
    await writeFile(join(root, path), text);
  } else if ((await readFile(join(root, path), 'utf8').catch(() => '')) !== text) {
    console.error(`${path}: differs from src/rpc; run \`npm run generate\` and commit the result`);
    process.exitCode = 1;
  }
}

/** The schemas of the document as TypeScript. */
async function clientTypes(document) {
  const { schemas } = document.components;
  const properties = Object.keys(schemas).map((name) => [name, { $ref: `#/definitions/${name}` }]);
  const root = {
    type: 'object',
    additionalProperties: false,
    properties: Object.fromEntries(properties),
    definitions: schemas,
  };
  const text = JSON.stringify(root).replaceAll('#/components/schemas/', '#/definitions/');
  return compile(JSON.parse(text, tupleOfDraft7), 'Schemas', {
    additionalProperties: false,
    bannerComment: '// Generated from openapi/openapi.json by `npm run generate`.\n',
    style: { singleQuote: true, printWidth: 100 },
  });
}

/** OpenAPI 3.1 writes tuples as JSON Schema 2020-12 does; the compiler reads draft 7. */
function tupleOfDraft7(_, value) {
  if (!Array.isArray(value?.prefixItems)) return value;
  const { prefixItems: items, ...rest } = value;
  return { ...rest, items, minItems: items.length, maxItems: items.length };
}
