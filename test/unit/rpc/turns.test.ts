import { setImmediate } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Turns } from '../../../src/rpc/turns.ts';

it('lets a few pass at a time, in order, and others between them', async () => {
  const turns = new Turns(2);
  const passed: number[] = [];
  for (let i = 0; i < 5; i++) void turns.take().then(() => passed.push(i));
  const seen: number[][] = [];
  for (let i = 0; i < 4; i++) {
    await setImmediate();
    seen.push([...passed]);
  }
  expect(seen).toEqual([
    [0, 1],
    [0, 1, 2, 3],
    [0, 1, 2, 3, 4],
    [0, 1, 2, 3, 4],
  ]);
});

it('lets one pass that comes later', async () => {
  const turns = new Turns(2);
  await turns.take();
  await turns.take();
});
