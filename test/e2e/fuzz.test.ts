import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCase } from '../fuzz/case.ts';
import { CORPUS, fuzz, type Report } from '../fuzz/fuzz.ts';
import { TARGETS } from '../fuzz/targets.ts';

const SEED = process.env.SEED ?? String(Date.now());
/** All targets together. */
const SECONDS = 60;

describe.each(TARGETS)('the corpus of $name', (target) => {
  const folder = join(CORPUS, target.name);

  it.each(readdirSync(folder))('%s', async (name) => {
    const { code } = await runCase(target, new Uint8Array(readFileSync(join(folder, name))));
    expect(name.split('-')[0]).toBe(code);
  });
});

it(`a minute of fuzzing finds nothing wrong (SEED=${SEED})`, async () => {
  const done: Extract<Report, { kind: 'done' }>[] = [];
  const finding = await fuzz({
    seed: SEED,
    seconds: SECONDS,
    onReport: (report) => {
      if (report.kind === 'done') done.push(report);
    },
  });
  const lines = done.map(({ target, cases, outcomes }) => `${target} ${cases}/${outcomes}`);
  console.log(`SEED=${SEED}: inputs/outcomes ${lines.join(', ')}`);
  expect(finding, `SEED=${SEED}`).toBeUndefined();
  expect(done.map(({ target }) => target)).toEqual(TARGETS.map(({ name }) => name));
  for (const { target, outcomes } of done) expect(outcomes, target).toBeGreaterThan(1);
}, 150_000);
