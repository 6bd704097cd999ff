import { expect, it } from 'vitest';
import { leavesOf } from '../support/damage.ts';
import { CHECKED, type CheckedName, verdictOn } from '../support/damaged-vanilla.ts';

it.each(Object.keys(CHECKED) as CheckedName[])(
  '%s: every value that is another is refused by its place',
  async (name) => {
    const { vanilla, check, placeOf } = await CHECKED[name]();
    await check();
    for (const leaf of leavesOf(vanilla)) {
      const place = `ERR_FORMAT ${placeOf(leaf.path)}`;
      expect(await verdictOn(leaf, check), leaf.path).toContain(place);
    }
  },
);
