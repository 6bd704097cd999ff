import { expect, it } from 'vitest';
import { leavesOf, oneOfEachKind } from '../../../support/damage.ts';
import { CHECKED, type CheckedName, verdictOn } from '../../../support/damaged-vanilla.ts';

/** Every one of them: test/large. */
it.each(Object.keys(CHECKED) as CheckedName[])(
  '%s: a value of any kind that is another is refused by its place',
  async (name) => {
    const { vanilla, check, placeOf } = await CHECKED[name]();
    await check();
    for (const leaf of oneOfEachKind(leavesOf(vanilla))) {
      const place = `ERR_FORMAT ${placeOf(leaf.path)}`;
      expect(await verdictOn(leaf, check), leaf.path).toContain(place);
    }
  },
);

it('names the parent whose path leads elsewhere', async () => {
  const { vanilla, check } = await CHECKED['porep-2kib']();
  const sibling = leavesOf(vanilla).find(
    ({ path }) => path === 'partitions.0.1.drgParents.4.inclusion.path.1.siblings.2',
  );
  await expect(sibling?.damaged(check)).rejects.toThrow(
    'partition 0, challenge 1, drg parent 4: path: expected one that leads to comm_c, got another',
  );
});
