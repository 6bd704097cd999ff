import { curveOf } from '../../src/math/curve.ts';

const { r } = curveOf('bls12-381');

/** One number of a nested value, and what can be made of it. */
export interface Leaf {
  /** `0.drgParents.3.inclusion.path.1.siblings.0` */
  readonly path: string;
  /** Gives it another value of its kind, has `work` done, and puts the old one back. */
  damaged<T>(work: () => Promise<T>): Promise<T>;
}

/** All numbers of a value, in order. */
export function leavesOf(value: object, path: readonly string[] = []): Leaf[] {
  return Object.entries(value).flatMap(([name, item]) => {
    const inner = [...path, name];
    if (typeof item === 'object') return leavesOf(item, inner);
    const holder = value as Record<string, unknown>;
    return [
      {
        path: inner.join('.'),
        async damaged<T>(work: () => Promise<T>): Promise<T> {
          holder[name] = otherThan(item, holder);
          try {
            return await work();
          } finally {
            holder[name] = item;
          }
        },
      },
    ];
  });
}

function otherThan(value: unknown, holder: Record<string, unknown>): unknown {
  if (typeof value === 'bigint') return (value + 1n) % r;
  const places = Array.isArray(holder.siblings) ? holder.siblings.length + 1 : 2 ** 32;
  return ((value as number) + 1) % places;
}

/** Of each kind of leaf (places in lists do not tell kinds apart) one, another one for each kind. */
export function oneOfEachKind(leaves: readonly Leaf[]): Leaf[] {
  const kinds = new Map<string, Leaf[]>();
  for (const leaf of leaves) {
    const kind = leaf.path.replace(/\d+/g, '*');
    kinds.set(kind, [...(kinds.get(kind) ?? []), leaf]);
  }
  return [...kinds.values()].map((like, i) => like[(7 * i) % like.length] as Leaf);
}
