// Packs into one folder what a machine with a GPU but without Node and npm needs to run the device tests and the
// service: `node test/device/pack.mjs FOLDER [NODE]`. There: `FOLDER/run.sh`.
import { existsSync } from 'node:fs';
import { cp, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

const [folder, node = process.execPath] = process.argv.slice(2);
if (folder === undefined) throw new Error('usage: node test/device/pack.mjs FOLDER [NODE]');

// Packages that load files of their own stay as they are.
const AS_THEY_ARE = ['libsql', '@libsql/linux-x64-gnu', '@neon-rs/load', 'detect-libc'];
const ASSETS = [
  'package.json',
  'examples/preimage',
  'test/golden',
  'test/device/run.sh',
  'test/device/service.mjs',
];

await rm(folder, { recursive: true, force: true });
await mkdir(join(folder, 'build/Release'), { recursive: true });
await build({
  entryPoints: { main: 'src/main.ts', host: 'src/host/child.ts', tests: 'test/device/main.ts' },
  outdir: join(folder, 'dist'),
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  external: AS_THEY_ARE,
  alias: { vitest: './test/device/vitest.ts' },
  sourcemap: false,
  logLevel: 'warning',
  banner: {
    js: [
      "import { createRequire as createRequireOfBundle } from 'node:module';",
      "import { fileURLToPath as pathOfBundle } from 'node:url';",
      "import { dirname as folderOfBundle } from 'node:path';",
      'const require = createRequireOfBundle(import.meta.url);',
      'const __filename = pathOfBundle(import.meta.url);',
      'const __dirname = folderOfBundle(__filename);',
    ].join('\n'),
  },
});
for (const name of ['cpu', 'cuda']) {
  const addon = `build/Release/${name}.node`;
  if (existsSync(addon)) await cp(addon, join(folder, addon));
}
// To build the addon there.
for (const name of ['node-api-headers', 'node-addon-api']) {
  await cp(`node_modules/${name}`, join(folder, 'node_modules', name), { recursive: true });
}
for (const name of AS_THEY_ARE) {
  await cp(`node_modules/${name}`, join(folder, 'node_modules', name), { recursive: true });
}
for (const path of ASSETS) await cp(path, join(folder, path), { recursive: true });
await cp(node, join(folder, 'node'));
await writeFile(
  join(folder, 'run.sh'),
  '#!/bin/sh\nexec "$(dirname "$0")/test/device/run.sh" "$@"\n',
  {
    mode: 0o755,
  },
);
