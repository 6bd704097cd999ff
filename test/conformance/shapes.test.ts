import { expect, it } from 'vitest';
import { SMALL_SHAPES, shapeOf } from '../support/shapes.ts';
import { goldenJson } from '../support/vanilla.ts';

it.each(SMALL_SHAPES)('%s has the reference’s counts and rows', async (file) => {
  const shape = await shapeOf(file);
  expect(shape).toMatchObject(goldenJson(`shapes/${file}`));
  expect(shape.dBin).toBe(1);
});
