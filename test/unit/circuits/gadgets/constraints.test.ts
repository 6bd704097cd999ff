import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { countsOf } from '../../../../src/r1cs/program-shape.ts';
import { golden } from '../../../support/shared.ts';
import { record } from '../harness.ts';
import { allocateOperands, CASES, type GadgetCase } from './cases.ts';

const [HEAD, ...PINNED] = readFileSync(golden('constraints.csv'), 'utf8').trimEnd().split('\n');

/** Of a gadget alone: what its circuit has more than that of its operands. */
function costOf({ operands, build }: GadgetCase): number[] {
  const count = (body: Parameters<typeof record>[0]) => {
    const { constraints, aux, inputs, nonZero } = countsOf(record(body).program);
    return [constraints, aux, inputs, ...nonZero];
  };
  // A circuit has to have something in it: both have one variable more.
  const whole = count((cs) => {
    cs.allocate({ op: 'hint' });
    return build(cs, allocateOperands(cs, operands));
  });
  const without = count((cs) => {
    cs.allocate({ op: 'hint' });
    return allocateOperands(cs, operands).bits;
  });
  return whole.map((value, i) => value - (without[i] as number));
}

it('pins every gadget and nothing else', () => {
  expect(HEAD).toBe('gadget;constraints;aux;inputs;A;B;C');
  expect(PINNED.map((line) => line.split(';')[0])).toEqual(Object.keys(CASES));
});

it.each(PINNED)('%s', (line) => {
  const [name] = line.split(';') as [string];
  expect([name, ...costOf(CASES[name] as GadgetCase)].join(';')).toBe(line);
});
