import { expect, it } from 'vitest';
import { fuzz, keepInput } from './fuzz.ts';

/** A corpus is small: so many inputs of a target, each of so many bytes. */
const KEPT = { inputs: 20, bytes: 4096 };

const { SEED = String(Date.now()), SECONDS = '3600', TARGETS = '', KEEP } = process.env;

it(`an hour of fuzzing (SEED=${SEED} SECONDS=${SECONDS})`, async () => {
  const targets = TARGETS.split(',').filter((name) => name !== '');
  const kept = new Map<string, number>();
  const finding = await fuzz({
    ...{ seed: SEED, seconds: Number(SECONDS), targets, keep: true },
    onReport: (report) => {
      if (report.kind === 'done') {
        console.log(`${report.target}: ${report.cases} inputs, ${report.outcomes} outcomes`);
      } else if (report.kind === 'new') {
        console.log(`${report.target}: ${report.code} ${report.told}`);
        const count = kept.get(report.target) ?? 0;
        const fits = count < KEPT.inputs && report.hex.length <= 2 * KEPT.bytes;
        if (KEEP !== '1' || !fits) return;
        kept.set(report.target, count + 1);
        keepInput(report);
      }
    },
  });
  expect(finding).toBeUndefined();
});
