import { createHash } from 'node:crypto';
import { closeSync, ftruncateSync, openSync, readdirSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { GIB, MIB } from '../../src/core/units.ts';
import { bombs } from './bombs.ts';
import { type Outcome, runCase } from './case.ts';
import type { Plan, Report } from './fuzz.ts';
import { INPUT_BYTES_MAX, mutate } from './mutate.ts';
import { Random } from './random.ts';
import { padded } from './source.ts';
import { TARGETS, type Target } from './targets.ts';

/** What a large file is taken for: nothing, a small circuit, a large one, a sector's parameters. */
const SIZES = [0, 0, MIB, GIB, 60 * GIB];

/** Inputs of a target that are changed further. */
const POOL_MAX = 100;

const plan = JSON.parse(process.argv[2] as string) as Plan;
/** What is being tried, for whoever has to say what ended this process. */
const current = openSync(plan.current, 'w');
const say = (report: Report) => void writeSync(1, `${JSON.stringify(report)}\n`);

function note(target: Target, bytes: Uint8Array): void {
  ftruncateSync(current, 0);
  writeSync(current, `${target.name}\n`, 0);
  writeSync(current, bytes);
}

/** Replays the corpus of a target, then tries changed inputs until its time is over. */
async function fuzz(target: Target, seconds: number): Promise<void> {
  const random = new Random(`${plan.seed}/${target.name}`);
  const folder = join(plan.corpus, target.name);
  const pool = readdirSync(folder)
    .sort()
    .map((name): Uint8Array => new Uint8Array(readFileSync(join(folder, name))));
  const seen = new Set<string>();
  const learn = ({ code, told }: Outcome, bytes: Uint8Array, isNew: boolean) => {
    const known = seen.has(`${code} ${told}`);
    seen.add(`${code} ${told}`);
    if (known || !isNew || pool.length >= POOL_MAX) return;
    pool.push(bytes);
    if (plan.keep) say({ kind: 'new', target: target.name, code, told, ...hexOf(bytes) });
  };
  for (const bytes of pool.slice()) learn(await tried(target, bytes), bytes, false);
  const large = target.jsonBytesMax === undefined ? [] : bombs(target.jsonBytesMax);
  for (const bytes of large) await tried(target, bytes);
  const end = performance.now() + 1000 * seconds;
  let cases = 0;
  for (; performance.now() < end; cases++) {
    const bytes = mutate(random.pick(pool), random.pick(pool), target.kind, random);
    const padding = target.large === true ? random.pick(SIZES) : 0;
    const outcome = await tried(target, bytes, padding);
    if (padding === 0) learn(outcome, bytes, true);
  }
  say({ kind: 'done', target: target.name, cases, outcomes: seen.size });
}

async function tried(target: Target, bytes: Uint8Array, padding = 0): Promise<Outcome> {
  note(target, bytes);
  try {
    const size = bytes.length + padding;
    return await runCase(target, bytes, padding === 0 ? undefined : padded(bytes, size));
  } catch (thrown) {
    const error = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    say({ kind: 'finding', target: target.name, padding, error, ...hexOf(bytes) });
    process.exit(1);
  }
}

function hexOf(bytes: Uint8Array) {
  const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 8);
  const shown = bytes.subarray(0, INPUT_BYTES_MAX);
  return { digest, hex: Buffer.from(shown).toString('hex') };
}

for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (thrown) => {
    console.error(event, thrown);
    process.exit(2);
  });
}
const chosen = TARGETS.filter(
  ({ name }) => plan.targets.length === 0 || plan.targets.includes(name),
);
for (const target of chosen) await fuzz(target, plan.seconds / chosen.length);
closeSync(current);
process.exit(0);
