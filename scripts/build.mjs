// Bundles the service into dist/: the command (main.js) and the device host's child process (host.js).
import { chmod, rm } from 'node:fs/promises';
import { build } from 'esbuild';

await rm('dist', { recursive: true, force: true });
await build({
  entryPoints: { main: 'src/main.ts', host: 'src/host/child.ts' },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  packages: 'external',
  sourcemap: true,
  banner: { js: '' },
  logLevel: 'warning',
});
await chmod('dist/main.js', 0o755);
