import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { describe, expect, it } from 'vitest';
import { openapiDocument, openrpcDocument } from '../../../src/rpc/documents.ts';
import { METHODS } from '../../../src/rpc/methods.ts';
import { ROUTES } from '../../../src/rpc/routes.ts';

// Required, not imported: the sources that it ships as types do not compile here.
const { parseOpenRPCDocument, validateOpenRPCDocument } = createRequire(import.meta.url)(
  '@open-rpc/schema-utils-js',
);

// biome-ignore lint/suspicious/noExplicitAny: documents are walked as JSON
type Json = any;

describe('OpenRPC', () => {
  const document: Json = openrpcDocument('1.2.3');

  it('is valid by its meta-schema', async () => {
    expect(validateOpenRPCDocument(document)).toBe(true);
    await parseOpenRPCDocument(structuredClone(document));
  });

  it('would not be valid otherwise', () => {
    expect(validateOpenRPCDocument({ ...document, methods: [{ name: 'x' }] })).not.toBe(true);
  });

  it('lists each method with its parameters by name', () => {
    expect(document.methods.map(({ name }: Json) => name)).toEqual(Object.keys(METHODS));
    const prove = document.methods.find(({ name }: Json) => name === 'prove');
    expect(prove.paramStructure).toBe('by-name');
    expect(prove.params.map(({ name, required }: Json) => [name, required])).toEqual([
      ['kind', true],
      ['key', false],
      ['payload', false],
      ['statement', false],
      ['miner', false],
      ['sector_number', false],
      ['vanilla', false],
      ['partition', false],
      ['backend', false],
      ['priority', false],
      ['deadline', false],
      ['strict', false],
      ['idempotency_key', false],
      ['wait', false],
    ]);
  });

  it('names an error for each code that a method may answer', () => {
    for (const { name, errors } of document.methods) {
      for (const { $ref } of errors) {
        const code = $ref.replace('#/components/errors/', '');
        expect(document.components.errors, `${name}: ${code}`).toHaveProperty(code);
      }
    }
  });
});

describe('OpenAPI', () => {
  const document: Json = openapiDocument('1.2.3');

  it('is 3.1 and describes each route', () => {
    expect(document.openapi).toBe('3.1.0');
    expect(document.info).toMatchObject({ title: 'Proofline', version: '1.2.3' });
    const described = Object.entries<object>(document.paths).flatMap(([path, verbs]) =>
      Object.keys(verbs).map((verb) => `${verb} ${path}`),
    );
    expect(described).toEqual(ROUTES.map(({ config }) => `${config.method} ${config.path}`));
  });

  it('has no dangling reference', () => {
    const refs = JSON.stringify(document).match(/#\/components\/[\w/]+/g) ?? [];
    expect(refs.length).toBeGreaterThan(10);
    for (const ref of refs) {
      const found = ref
        .slice(2)
        .split('/')
        .reduce((at: Json, step) => at?.[step], document);
      expect(found, ref).toBeDefined();
    }
  });

  it('declares each parameter of a path, and a response for each route', () => {
    for (const [path, verbs] of Object.entries<Record<string, Json>>(document.paths)) {
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      for (const operation of Object.values(verbs)) {
        expect(
          (operation.parameters ?? [])
            .filter((parameter: Json) => parameter.in === 'path')
            .map(({ name }: Json) => name),
        ).toEqual(inPath);
        expect(operation.summary).toMatch(/\w/);
        expect(Object.keys(operation.responses).length).toBeGreaterThan(0);
        for (const response of Object.values<Json>(operation.responses)) {
          expect(response.description).toEqual(expect.any(String));
        }
      }
    }
  });
});

describe('scripts/generate.mjs', () => {
  it('would write what is checked in', () => {
    execFileSync(process.execPath, ['scripts/generate.mjs', '--check'], { stdio: 'pipe' });
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(JSON.parse(readFileSync('openapi/openrpc.json', 'utf8'))).toEqual(
      openrpcDocument(version),
    );
  });
});
