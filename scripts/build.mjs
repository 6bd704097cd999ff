// Bundles into dist/: the command (main.js), the device host's child process (host.js), the client library
// (client.js) and the service to embed (embed.js), with the declarations of the last two.
import { execFileSync } from 'node:child_process';
import { chmod, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';

const fresh = `dist.${process.pid}`;
try {
  await build({
    entryPoints: {
      main: 'src/main.ts',
      host: 'src/host/child.ts',
      grpc: 'src/rpc/grpc/worker.ts',
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
  await replace('dist');
} finally {
  await rm(fresh, { recursive: true, force: true });
}

/** A service may run from the folder, and another build may end now: an equal one stays untouched. */
async function replace(target) {
  const old = `${fresh}.old`;
  while (!(await isEqual(fresh, target))) {
    await rename(target, old).catch(ignore('ENOENT'));
    await rename(fresh, target).catch(ignore('ENOTEMPTY', 'EEXIST', 'ENOENT'));
    await rm(old, { recursive: true, force: true });
  }
}

async function isEqual(folder, other) {
  const files = await filesOf(folder);
  if (files.length === 0) return true;
  if (files.join() !== (await filesOf(other)).join()) return false;
  const same = files.map(async (file) => {
    const bytes = await readFile(join(other, file)).catch(ignore('ENOENT'));
    return bytes?.equals(await readFile(join(folder, file)));
  });
  return (await Promise.all(same)).every(Boolean);
}

/** None of a folder that is not there. */
async function filesOf(folder) {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(
    ignore('ENOENT'),
  );
  const files = (entries ?? []).filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => join(parentPath, name).slice(folder.length)).sort();
}

function ignore(...codes) {
  return (error) => {
    if (!codes.includes(error.code)) throw error;
  };
}
