import { expect, it } from 'vitest';
import { freeWiresOf, SMALL_GADGETS } from './soundness.ts';

it.each(SMALL_GADGETS)('%s: a wrong value of any own wire is refused', async (_, gadget) => {
  expect(await freeWiresOf(gadget)).toEqual([]);
});
