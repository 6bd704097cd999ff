// Bundles into dist/: the command (main.js), the device host's child process (host.js), the client library
// (client.js) and the service to embed (embed.js), with the declarations of the last two.
import { execFileSync } from 'node:child_process';
import { chmod, rename, rm } from 'node:fs/promises';
import { build } from 'esbuild';

const fresh = `dist.${process.pid}`;
await build({
  entryPoints: {
    main: 'src/main.ts',
    host: 'src/host/child.ts',
    client: 'src/client/client.ts',
    embed: 'src/embed.ts',
  },
  outdir: fresh,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  packages: 'external',
  sourcemap: true,
  logLevel: 'warning',
});
execFileSync(process.execPath, [
  'node_modules/typescript/bin/tsc',
  ...['-p', 'tsconfig.declarations.json', '--outDir', `${fresh}/types`],
]);
await chmod(`${fresh}/main.js`, 0o755);
await rm('dist', { recursive: true, force: true });
await rename(fresh, 'dist');
