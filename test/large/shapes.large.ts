import { expect, it } from 'vitest';
import { circuitOfShape, LARGE_SHAPES, officialOfShape, shapeOf } from '../support/shapes.ts';
import { goldenJson } from '../support/vanilla.ts';

it.each(LARGE_SHAPES)(
  '%s has the reference’s counts and rows, and the official key’s size',
  async (file) => {
    const shape = await shapeOf(file);
    expect(shape).toMatchObject(goldenJson(`shapes/${file}`));
    expect(shape.dBin).toBe(1);
    expect(officialOfShape(shape)).toEqual(circuitOfShape(file));
  },
);
