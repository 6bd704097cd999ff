import { JestAsymmetricMatchers, JestChaiExpect, JestExtend } from '@vitest/expect';
import * as chai from 'chai';

// Stands in for vitest where there is no npm (pack.mjs): runs the tests of a bundle one after another, and prints a
// line for each that failed or was skipped, and a plain last one.

interface Context {
  skip(reason?: string): never;
}
type Body = (context: Context) => unknown;
interface Test {
  readonly name: string;
  readonly body: Body;
  readonly before: readonly (() => unknown)[];
  readonly after: readonly (() => unknown)[];
  readonly group: Group;
}
interface Group {
  readonly name: string;
  readonly beforeAll: (() => unknown)[];
  readonly beforeEach: (() => unknown)[];
  readonly afterAll: (() => unknown)[];
  readonly afterEach: (() => unknown)[];
}

class Skip extends Error {}

chai.use(JestExtend);
chai.use(JestChaiExpect);
chai.use(JestAsymmetricMatchers);
export const expect = ((value: unknown, message?: string) =>
  chai.expect(value, message)) as unknown as typeof chai.expect;
for (const name of [
  'anything',
  'any',
  'arrayContaining',
  'objectContaining',
  'stringContaining',
  'stringMatching',
]) {
  Object.assign(expect, { [name]: Reflect.get(chai.expect, name) });
}
// The test that made it fails by itself, later.
process.on('unhandledRejection', (reason) => console.log(`unhandled: ${reason}`));

const newGroup = (name: string): Group => ({
  ...{ name, beforeAll: [], beforeEach: [], afterAll: [], afterEach: [] },
});
const stack: Group[] = [newGroup('')];
const tests: Test[] = [];
const current = (): Group => stack.at(-1) as Group;

export function describe(name: string, body: () => void): void {
  stack.push(newGroup(name));
  body();
  stack.pop();
}
describe.each =
  <T>(values: readonly T[]) =>
  (name: string, body: (value: T) => void): void => {
    for (const value of values) describe(name.replace('%s', String(value)), () => body(value));
  };

export function it(name: string, ...rest: readonly unknown[]): void {
  const body = rest.find((part) => typeof part === 'function') as Body;
  const before = stack.flatMap((group) => group.beforeEach);
  const after = stack.flatMap((group) => group.afterEach);
  const path = [...stack.map((group) => group.name).slice(1), name].join(' > ');
  tests.push({ name: path, body, before, after, group: current() });
}

export const beforeAll = (hook: () => unknown): void => void current().beforeAll.push(hook);
export const afterAll = (hook: () => unknown): void => void current().afterAll.push(hook);
export const beforeEach = (hook: () => unknown): void => void current().beforeEach.push(hook);
export const afterEach = (hook: () => unknown): void => void current().afterEach.push(hook);

/** Those whose name contains `wanted`. */
export async function runTests(wanted = ''): Promise<number> {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const top = stack[0] as Group;
  let open: Group | undefined;
  const turnTo = async (group: Group | undefined): Promise<void> => {
    if (open === group) return;
    for (const hook of open?.afterAll ?? []) await hook();
    open = group;
    for (const hook of group?.beforeAll ?? []) await hook();
  };
  for (const test of tests.filter(({ name }) => name.includes(wanted))) {
    await turnTo(test.group);
    for (const hook of test.before) await hook();
    const skip = (reason?: string): never => {
      throw new Skip(reason);
    };
    const start = performance.now();
    try {
      await test.body({ skip });
      counts.passed++;
    } catch (thrown) {
      if (thrown instanceof Skip) {
        counts.skipped++;
        console.log(`skipped ${test.name}: ${thrown.message}`);
      } else {
        counts.failed++;
        console.log(`FAILED ${test.name}\n  ${String((thrown as Error)?.stack ?? thrown)}`);
        const { code, data } = thrown as { code?: string; data?: unknown };
        if (code !== undefined) console.log(`  ${code} ${JSON.stringify(data)}`);
      }
    }
    const millis = Math.round(performance.now() - start);
    if (millis > 2000) console.log(`slow ${test.name}: ${millis} ms`);
    for (const hook of test.after) await hook();
  }
  await turnTo(undefined);
  for (const hook of top.afterAll) await hook();
  console.log(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`);
  return counts.failed;
}
