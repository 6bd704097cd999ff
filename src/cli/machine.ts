import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { join } from 'node:path';

/** What `doctor` looks at besides the backends. */
export interface MachineFacts {
  /** `20.20.2` */
  readonly nodeVersion: string;
  readonly cpu: string;
  readonly cores: number;
  /** Of the machine, or of the limit that this process runs under. */
  readonly memoryBytes: number;
  readonly memoryFreeBytes: number;
  /** First line of `--version`, or undefined where the tool is not installed. */
  readonly compiler: string | undefined;
  readonly cmake: string | undefined;
  /** Why the data folder cannot be written to, or undefined. */
  readonly dataDirProblem: string | undefined;
}

const TOOL_MS_MAX = 5_000;

/** Looks without changing anything, except that it makes the data folder. */
export async function inspectMachine(dataDir: string): Promise<MachineFacts> {
  const limit = process.constrainedMemory();
  const [compiler, cmake, dataDirProblem] = await Promise.all([
    versionOf('c++'),
    versionOf('cmake'),
    problemOf(dataDir),
  ]);
  const memoryBytes = limit > 0 ? Math.min(totalmem(), limit) : totalmem();
  return {
    nodeVersion: process.versions.node,
    cpu: cpus()[0]?.model ?? 'unknown processor',
    cores: availableParallelism(),
    memoryBytes,
    memoryFreeBytes: Math.min(memoryBytes, process.availableMemory()),
    compiler,
    cmake,
    dataDirProblem,
  };
}

function versionOf(tool: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile(tool, ['--version'], { timeout: TOOL_MS_MAX }, (error, stdout) => {
      resolve(error === null ? stdout.split('\n')[0] : undefined);
    });
  });
}

async function problemOf(folder: string): Promise<string | undefined> {
  const probe = join(folder, `doctor-${randomUUID()}`);
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await writeFile(probe, '', { flag: 'wx' });
    return undefined;
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code ?? 'cannot be written';
  } finally {
    await rm(probe, { force: true }).catch(() => {});
  }
}
