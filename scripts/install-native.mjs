// Runs after `npm install`: builds the native backend where a compiler and cmake are. Where they are missing the install
// succeeds all the same; the service then proves on the reference backend and says why (build/native-reason.txt).
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const REASON = 'build/native-reason.txt';
const ADDON = 'build/Release/cpu.node';

const runs = (command) => spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;

function build() {
  if (!existsSync('CMakeLists.txt')) return 'this package has no native sources';
  const compiler = process.env.CXX ?? ['c++', 'g++', 'clang++'].find(runs);
  const missing = [
    ...(compiler !== undefined && runs(compiler) ? [] : ['a C++20 compiler']),
    ...(runs('cmake') ? [] : ['cmake']),
    ...(runs('ninja') || runs('make') ? [] : ['make or ninja']),
  ];
  if (missing.length > 0) {
    return `${missing.join(', ')} missing; install it (Debian: apt-get install g++ cmake make) and run npm rebuild`;
  }
  const cmakeJs = createRequire(import.meta.url).resolve('cmake-js/bin/cmake-js');
  const built = spawnSync(process.execPath, [cmakeJs, 'build', '--config', 'Release'], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (built.status === 0 && existsSync(ADDON)) return undefined;
  console.error(`${built.stdout}${built.stderr}`.split('\n').slice(-30).join('\n'));
  return 'the build failed; npm rebuild shows why';
}

const reason = build();
if (reason === undefined) rmSync(REASON, { force: true });
else {
  rmSync(ADDON, { force: true });
  mkdirSync('build', { recursive: true });
  writeFileSync(REASON, `${reason}\n`);
  console.warn(`proofline: the native backend is not built: ${reason}`);
}
