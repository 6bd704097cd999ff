import type { WeierstrassPoint } from '@noble/curves/abstract/weierstrass.js';
import type { PointGroup } from '../../src/math/points.ts';

/** A point of the curve whose order is not r: the first x = n, 1 ≤ n, that has such a point. */
export function pointOutside<T, B extends Uint8Array>(
  group: PointGroup<T, B>,
): WeierstrassPoint<T> {
  const { Point } = group;
  const { Fp } = Point;
  for (let n = 1n; ; n++) {
    const x = group.join([n, 0n]);
    const square = Fp.add(Fp.mul(Fp.sqr(x), x), Point.CURVE().b);
    const y = squareRoot(() => Fp.sqrt(square));
    if (y === undefined) continue;
    const point = Point.fromAffine({ x, y });
    if (!point.isTorsionFree()) return point;
  }
}

/** noble throws where there is none. */
function squareRoot<T>(compute: () => T): T | undefined {
  try {
    return compute();
  } catch {
    return undefined;
  }
}
