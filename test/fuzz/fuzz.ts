import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const HERE = fileURLToPath(new URL('.', import.meta.url));
export const CORPUS = join(HERE, 'corpus');
/** Longer than the limit on a case's processor time, which the child checks itself. */
const SILENCE_MS_MAX = 30_000;

export interface Plan {
  readonly seed: string;
  readonly seconds: number;
  /** All where it is empty. */
  readonly targets: readonly string[];
  readonly corpus: string;
  /** Where the child notes what it tries. */
  readonly current: string;
  /** Reports inputs that lead to something new. */
  readonly keep: boolean;
}

interface Input {
  readonly target: string;
  readonly digest: string;
  readonly hex: string;
}

export type Report =
  | ({ readonly kind: 'new'; readonly code: string; readonly told: string } & Input)
  | ({ readonly kind: 'finding'; readonly padding: number; readonly error: string } & Input)
  | { readonly kind: 'done'; target: string; cases: number; outcomes: number };

export interface Options {
  readonly seed: string;
  readonly seconds: number;
  readonly targets?: readonly string[];
  readonly onReport: (report: Report) => void;
  readonly keep?: boolean;
}

/**
 * Fuzzes in a process of its own, so that a crash, a hang or the end of its memory is one finding.
 * @returns what was found wrong, in words; undefined where nothing was
 */
export async function fuzz(options: Options): Promise<string | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'proofline-fuzz-'));
  const current = join(folder, 'current');
  try {
    const { seed, seconds, targets = [], keep = false } = options;
    const plan: Plan = { seed, seconds, targets, corpus: CORPUS, current, keep };
    return await attend(await bundle(), plan, options.onReport);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Beside the modules that it imports. */
async function bundle(): Promise<string> {
  const folder = join(HERE, '../../node_modules/.cache/proofline');
  await mkdir(folder, { recursive: true });
  const outfile = join(folder, `fuzz-${process.pid}.mjs`);
  await build({
    entryPoints: [join(HERE, 'child.ts')],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    packages: 'external',
    sourcemap: 'inline',
    logLevel: 'warning',
  });
  return outfile;
}

async function attend(entry: string, plan: Plan, onReport: (report: Report) => void) {
  const child = spawn(
    process.execPath,
    ['--expose-gc', '--enable-source-maps', entry, JSON.stringify(plan)],
    { stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let finding: string | undefined;
  let stderr = '';
  child.stderr.on('data', (chunk) => {
    stderr = `${stderr}${chunk}`.slice(-10_000);
  });
  createInterface(child.stdout).on('line', async (line) => {
    const report = JSON.parse(line) as Report;
    if (report.kind === 'finding') finding = describe(report);
    else onReport(report);
  });
  const watchdog = setInterval(async () => {
    const info = await stat(plan.current).catch(() => undefined);
    if (info !== undefined && Date.now() - info.mtimeMs > SILENCE_MS_MAX) child.kill('SIGKILL');
  }, 1000);
  const ended = await new Promise<string>((resolve) => {
    child.once('close', (code, signal) => resolve(signal ?? String(code)));
  });
  clearInterval(watchdog);
  await rm(entry);
  if (ended === '0') return undefined;
  return finding ?? `the process ended (${ended}) at ${await noted(plan.current)}\n${stderr}`;
}

async function noted(path: string): Promise<string> {
  const bytes = await readFile(path);
  const end = bytes.indexOf('\n');
  const target = bytes.subarray(0, end).toString();
  return `${target}: ${bytes.subarray(end + 1).toString('hex')}`;
}

function describe({ target, padding, error, hex }: Extract<Report, { kind: 'finding' }>): string {
  const zeros = padding === 0 ? '' : `, then ${padding} zeros`;
  return `${target}: ${error}\ninput: ${hex}${zeros}`;
}

/** Puts an input into the corpus, named after what becomes of it. */
export function keepInput(report: Extract<Report, { kind: 'new' }>): void {
  const folder = join(CORPUS, report.target);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `${report.code}-${report.digest}`);
  writeFileSync(path, Buffer.from(report.hex, 'hex'));
}
