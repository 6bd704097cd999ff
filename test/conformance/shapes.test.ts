import { expect, it } from 'vitest';
import { circuitOfShape, officialOfShape, SMALL_SHAPES, shapeOf } from '../support/shapes.ts';
import { goldenJson } from '../support/vanilla.ts';

it.each(SMALL_SHAPES)(
  '%s has the reference’s counts and rows, and the official key’s size',
  async (file) => {
    const shape = await shapeOf(file);
    expect(shape).toMatchObject(goldenJson(`shapes/${file}`));
    expect(shape.dBin).toBe(1);
    expect(officialOfShape(shape)).toEqual(circuitOfShape(file));
  },
);
