// Builds the CUDA prover, build/Release/cuda.node, where nvcc is; elsewhere it says so and succeeds. Minutes on two
// cores, so it is part of `npm run build` and not of `npm ci`. Arguments go to cmake, such as
// `-DPROOFLINE_CUDA_ARCHITECTURES="80;86;89;90;100;120"`; default: 90 (Hopper).
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';

const REASON = 'build/cuda-reason.txt';
const ADDON = 'build/Release/cuda.node';
const FOLDER = 'build/cuda';

const runs = (command) => spawnSync(command, ['--version'], { stdio: 'ignore' }).status === 0;

function cmake(...options) {
  const { status, stdout, stderr } = spawnSync('cmake', options, {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (status !== 0) console.error(`${stdout}${stderr}`.split('\n').slice(-40).join('\n'));
  return status === 0;
}

function build() {
  const nvcc = process.env.CUDACXX ?? 'nvcc';
  const missing = [nvcc, 'cmake'].filter((command) => !runs(command));
  if (missing.length > 0) {
    return `${missing.join(' and ')} not found; install CUDA 13 or later and run npm run build`;
  }
  console.log('proofline: building the CUDA prover (some minutes the first time)');
  const built =
    cmake('-S', '.', '-B', FOLDER, '-DPROOFLINE_CUDA=ON', ...process.argv.slice(2)) &&
    cmake('--build', FOLDER, '--target', 'cuda', '--parallel', String(availableParallelism()));
  return built && existsSync(ADDON) ? undefined : 'the build failed; npm run build shows why';
}

const reason = build();
if (reason === undefined) rmSync(REASON, { force: true });
else {
  rmSync(ADDON, { force: true });
  mkdirSync('build', { recursive: true });
  writeFileSync(REASON, `${reason}\n`);
  console.warn(`proofline: the CUDA prover is not built: ${reason}`);
}
