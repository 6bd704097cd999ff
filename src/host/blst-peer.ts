import { execFile, spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { ProverError } from '../core/errors.ts';

const SOURCES = 'node_modules/c-kzg/deps/blst';
const PROGRAM = 'test/bench/blst_msm.cpp';

export interface BlstPeer extends AsyncDisposable {
  /** Seconds of one sum. */
  run(): Promise<number>;
}

/**
 * blst's Pippenger (its source comes with the development dependency c-kzg) in a process of its
 * own, built once with the machine's compiler. @throws ERR_BACKEND_UNAVAILABLE outside of a
 * checkout
 */
export async function openBlst(logN: number, threads: number): Promise<BlstPeer> {
  const program = await build();
  const child = spawn(program, [String(logN), String(threads)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async (): Promise<string> => {
    const { value, done } = await lines.next();
    if (done) throw unavailable('it ended');
    return value;
  };
  const first = await next();
  if (first !== 'ready') throw unavailable(`it said ${first}`);
  return {
    async run() {
      child.stdin.write('run\n');
      return Number((await next()).split(' ')[0]);
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
    },
  };
}

async function build(): Promise<string> {
  const run = promisify(execFile);
  const folder = join(tmpdir(), 'proofline-bench');
  const program = join(folder, 'blst_msm');
  if ((await stat(program).catch(() => undefined)) !== undefined) return program;
  await mkdir(folder, { recursive: true });
  const work = await mkdtemp(join(folder, 'blst-'));
  try {
    await cp(SOURCES, work, { recursive: true });
    await run('sh', ['build.sh', '-O3'], { cwd: work });
    await run('c++', [
      ...['-O3', '-std=c++20', '-pthread', '-I', join(work, 'bindings'), PROGRAM],
      ...[join(work, 'libblst.a'), '-o', program],
    ]);
    return program;
  } catch (cause) {
    throw unavailable('its source and a compiler are needed: run this in a checkout', cause);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

function unavailable(reason: string, cause?: unknown): ProverError {
  return new ProverError('ERR_BACKEND_UNAVAILABLE', { backend: 'blst', reason }, cause);
}
