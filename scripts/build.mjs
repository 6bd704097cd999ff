// Bundles the service into dist/: the command (main.js) and the device host's child process (host.js).
import { chmod, rename, rm } from 'node:fs/promises';
import { build } from 'esbuild';

const fresh = `dist.${process.pid}`;
await build({
  entryPoints: { main: 'src/main.ts', host: 'src/host/child.ts' },
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
await chmod(`${fresh}/main.js`, 0o755);
await rm('dist', { recursive: true, force: true });
await rename(fresh, 'dist');
