import { readFileSync, writeFileSync } from 'node:fs';
import { ProverError } from '../../src/core/errors.ts';
import { type ByteSource, fromBytes } from '../../src/core/source.ts';
import { KIB, MIB } from '../../src/core/units.ts';
import { Enough } from './source.ts';
import type { Target } from './targets.ts';

const CPU_MS_MAX = 2000;
const BYTES_MAX = (size: number) => 4 * size + 64 * MIB;
/** A limit is broken if it is each time: the collector of garbage runs when it likes. */
const TRIES = 3;

export interface Outcome {
  /** An error's code, a status of HTTP, or `ok`. */
  readonly code: string;
  /** What was said, without its numbers: inputs that differ in it took different ways. */
  readonly told: string;
}

/** Runs one input. @throws whatever is against the rules, as an error that says so */
export async function runCase(target: Target, bytes: Uint8Array, source?: ByteSource) {
  for (let tries = 1; ; tries++) {
    if (tries > 1) global.gc?.();
    const meter = new Meter();
    const outcome = await outcomeOf(target, source ?? fromBytes('input', bytes));
    const problem = meter.problem(bytes.length);
    if (problem === undefined) return outcome;
    if (tries === TRIES) throw new Error(problem);
  }
}

async function outcomeOf(target: Target, source: ByteSource): Promise<Outcome> {
  try {
    const told = await target.run(source);
    return { code: /^\d{3} /.exec(told)?.[0].trim() ?? 'ok', told: shape(told) };
  } catch (thrown) {
    if (thrown instanceof Enough) return { code: 'ok', told: 'enough' };
    if (!(thrown instanceof ProverError) || thrown.code === 'ERR_INTERNAL') throw thrown;
    if (/\n/.test(thrown.message)) throw new Error(`expected one line, got ${thrown.message}`);
    return { code: thrown.code, told: shape(thrown.message) };
  }
}

function shape(text: string): string {
  return (
    text
      .split(', got ', 1)[0]
      ?.replaceAll(/[0-9a-f]{16,}|\d+/g, '#')
      .slice(0, 120) ?? ''
  );
}

/** What proc(5) tells of memory, which only Linux has: elsewhere time alone is limited. */
const HAS_PROC = process.platform === 'linux';

/** Processor time, and the most memory this process held, since it was made. */
class Meter {
  readonly #cpu = process.cpuUsage();
  readonly #held = kibOf('VmRSS');

  constructor() {
    // Resets the peak of the resident set.
    if (HAS_PROC) writeFileSync('/proc/self/clear_refs', '5');
  }

  problem(size: number): string | undefined {
    const { user, system } = process.cpuUsage(this.#cpu);
    const ms = (user + system) / 1000;
    if (ms > CPU_MS_MAX) return `expected at most ${CPU_MS_MAX} ms, got ${Math.round(ms)}`;
    const grown = (kibOf('VmHWM') - this.#held) * KIB;
    if (grown <= BYTES_MAX(size)) return undefined;
    return `expected at most ${BYTES_MAX(size)} bytes held for ${size}, got ${grown}`;
  }
}

function kibOf(field: string): number {
  if (!HAS_PROC) return 0;
  const status = readFileSync('/proc/self/status', 'latin1');
  return Number(new RegExp(`^${field}:\\s*(\\d+)`, 'm').exec(status)?.[1] ?? 0);
}
