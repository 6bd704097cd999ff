import { spawn } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { Service } from '../support/command.ts';
import type { Load } from './loads.ts';

const PROBER = fileURLToPath(new URL('./prober.mjs', import.meta.url));

export interface Measured {
  readonly name: string;
  readonly seconds: number;
  /** What the load itself counted. */
  readonly done: string;
  readonly healthP50Ms: number;
  readonly healthP99Ms: number;
  readonly healthMaxMs: number;
  readonly healthFailures: number;
  readonly loopP99Ms: number;
  readonly loopMaxMs: number;
  /** Peak resident set of the server's process during the load. */
  readonly peakMiB: number;
  readonly beforeMiB: number;
}

/** Puts a load on a service while its health is probed from another process. */
export async function measure(name: string, service: Service, load: Load): Promise<Measured> {
  const beforeMiB = await memory(service.pid, 'VmRSS');
  // Resets the peak of the resident set: Linux, proc(5).
  await writeFile(`/proc/${service.pid}/clear_refs`, '5');
  await scrape(service.url);
  const probe = startProber(service.url);
  const start = performance.now();
  const done = await load(service.url);
  const seconds = (performance.now() - start) / 1000;
  const { times, failures } = await probe.stop();
  const loop = await scrape(service.url);
  return {
    name,
    seconds,
    done,
    healthP50Ms: percentile(times, 0.5),
    healthP99Ms: percentile(times, 0.99),
    healthMaxMs: percentile(times, 1),
    healthFailures: failures,
    loopP99Ms: loop.p99,
    loopMaxMs: loop.max,
    peakMiB: await memory(service.pid, 'VmHWM'),
    beforeMiB,
  };
}

/** Of the server's process, whatever clients do. */
const PEAK_MIB_MAX = 384;

export function expectWithinLimits({ name, ...measured }: Measured): void {
  expect(measured.healthFailures, name).toBe(0);
  expect(measured.healthP99Ms, `${name}: health p99`).toBeLessThan(100);
  expect(measured.loopP99Ms, `${name}: event loop p99`).toBeLessThan(50);
  expect(measured.peakMiB, `${name}: memory`).toBeLessThan(PEAK_MIB_MAX);
}

/** Columns that line up. */
export function table(rows: readonly Measured[]): string {
  const cells = rows.map((row) => [
    row.name,
    row.seconds.toFixed(1),
    ...[row.healthP50Ms, row.healthP99Ms, row.healthMaxMs].map((ms) => ms.toFixed(1)),
    ...[row.loopP99Ms, row.loopMaxMs].map((ms) => ms.toFixed(1)),
    ...[row.beforeMiB, row.peakMiB].map((mib) => mib.toFixed(0)),
    row.done,
  ]);
  const head = [
    ...['load', 's', 'health p50 ms', 'p99', 'max', 'loop p99 ms', 'max'],
    ...['MiB before', 'peak', 'done'],
  ];
  const all = [head, ...cells];
  const widths = head.map((_, i) => Math.max(...all.map((row) => (row[i] as string).length)));
  return all
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] as number))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function startProber(url: string) {
  const child = spawn(process.execPath, [PROBER, url], { stdio: ['pipe', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (chunk) => {
    text += chunk;
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return {
    async stop(): Promise<{ times: number[]; failures: number }> {
      child.stdin.end();
      await ended;
      return JSON.parse(text);
    },
  };
}

/** Event-loop delay since the last scrape, which resets it. */
async function scrape(url: string): Promise<{ p99: number; max: number }> {
  const text = await (await fetch(new URL('/metrics', url))).text();
  const ms = (name: string) =>
    1000 * Number(new RegExp(`^nodejs_eventloop_lag_${name}_seconds (\\S+)`, 'm').exec(text)?.[1]);
  return { p99: ms('p99'), max: ms('max') };
}

async function memory(pid: number, field: 'VmRSS' | 'VmHWM'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'latin1');
  return Number(new RegExp(`^${field}:\\s*(\\d+)`, 'm').exec(status)?.[1]) / 1024;
}

function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((x, y) => x - y);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN;
}
