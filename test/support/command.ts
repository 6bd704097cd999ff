import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const MAIN = fileURLToPath(new URL('../../dist/main.js', import.meta.url));

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the built `proofline`, as a user would. `env` is added to the environment. */
export function proofline(args: readonly string[], env: Record<string, string> = {}) {
  return new Promise<Finished>((resolve, reject) => {
    const child = spawn(process.execPath, [MAIN, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    const text = { stdout: '', stderr: '' };
    child.stdout.on('data', (chunk) => {
      text.stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      text.stderr += chunk;
    });
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, ...text }));
  });
}

export interface Service extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  /** What it wrote to standard error so far. */
  stderr(): string;
  /** Ends it with a signal and waits. @returns its exit status */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts `proofline serve`, or another command that serves, on a free port. */
export function serve(
  dataDir: string,
  env: Record<string, string> = {},
  command = 'serve',
): Promise<Service> {
  const args = [command, '--listen', '127.0.0.1:0', '--data-dir', dataDir, '--json'];
  const child = spawn(process.execPath, [MAIN, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  let [stdout, stderr] = ['', ''];
  child.stderr.on('data', (chunk) => {
    stderr += chunk;
  });
  const stop = (signal: NodeJS.Signals = 'SIGTERM') => {
    child.kill(signal);
    return ended;
  };
  return new Promise((resolve, reject) => {
    ended.then((code) => reject(new Error(`proofline serve ended with ${code}: ${stderr}`)));
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
      const url = /"url":\s*"([^"]+)"/.exec(stdout)?.[1];
      if (url === undefined) return;
      resolve({
        url,
        pid: child.pid as number,
        stderr: () => stderr,
        stop,
        [Symbol.asyncDispose]: async () => void (await stop('SIGKILL')),
      });
    });
  });
}
