// The tests of the native headers (ctest): as they ship and under sanitizers. `node scripts/native-test.mjs plain thread`
// runs only the ones named. Ends with one plain line.
import { spawnSync } from 'node:child_process';

const VARIANTS = {
  plain: { sanitize: '', type: 'Release' },
  address: { sanitize: 'address,undefined', type: 'RelWithDebInfo' },
  thread: { sanitize: 'thread', type: 'RelWithDebInfo' },
};
const wanted = process.argv.slice(2);
const names = wanted.length > 0 ? wanted : Object.keys(VARIANTS);
const counts = { passed: 0, failed: 0 };

for (const name of names) {
  const { sanitize, type } = VARIANTS[name];
  const folder = `build/native-test-${name}`;
  console.log(`== native tests: ${name}`);
  const configured = run('cmake', [
    ...['-S', '.', '-B', folder, '-DPROOFLINE_TESTS=ON', '-DPROOFLINE_ADDON=OFF'],
    ...[`-DPROOFLINE_SANITIZE=${sanitize}`, `-DCMAKE_BUILD_TYPE=${type}`],
  ]);
  const built = configured && run('cmake', ['--build', folder, '--parallel', '2']);
  if (!built) {
    counts.failed++;
    continue;
  }
  const { stdout, status } = spawnSync('ctest', ['--test-dir', folder, '--output-on-failure'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  console.log(stdout);
  const [, failed, total] = /(\d+) tests failed out of (\d+)/.exec(stdout) ?? [];
  if (total === undefined || Number(total) === 0) counts.failed++;
  else {
    counts.failed += Number(failed);
    counts.passed += Number(total) - Number(failed);
    if (status !== 0 && Number(failed) === 0) counts.failed++;
  }
}
console.log(`${counts.passed} passed, ${counts.failed} failed`);
process.exitCode = counts.failed === 0 ? 0 : 1;

function run(command, options) {
  const { status, stdout, stderr } = spawnSync(command, options, { encoding: 'utf8' });
  if (status !== 0) console.error(`${stdout}${stderr}`.split('\n').slice(-40).join('\n'));
  return status === 0;
}
