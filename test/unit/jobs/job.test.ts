import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import { fingerprint, rankOf } from '../../../src/jobs/job.ts';

const sha256 = (value: unknown) => createHash('sha256').update(JSON.stringify(value)).digest('hex');

it('knows the circom requests that earlier versions have accepted', () => {
  const request = { kind: 'circom', key: 'name', payload: 'p' } as const;
  expect(fingerprint(request, 'digest')).toBe(sha256(['circom', 'digest', 'p', null, false]));
});

it('tells requests apart by each thing that the proof depends on', () => {
  const request = { kind: 'porep', statement: 's', vanilla: ['a', 'b'] } as const;
  const others = [
    request,
    { ...request, kind: 'snap-deals' as const },
    { ...request, statement: 'a', vanilla: ['s', 'b'] },
    { ...request, vanilla: ['b', 'a'] },
    { ...request, vanilla: ['a'] },
    { ...request, partition: 0 },
    { ...request, backend: 'cpu' as const },
    { ...request, strict: true },
  ].map((each) => fingerprint(each, null));
  const all = [...others, fingerprint(request, 'digest')];
  expect(new Set(all).size).toBe(all.length);
  expect(fingerprint({ ...request, priority: 'low' }, null)).toBe(others[0]);
});

it('starts a WinningPoSt first, then a WindowPoSt, unless it is told otherwise', () => {
  const rest = { statement: 's', vanilla: [] };
  const ranks = (['winning-post', 'window-post', 'porep', 'snap-deals'] as const).map((kind) =>
    rankOf({ ...rest, kind }),
  );
  expect(ranks).toEqual([0, 1, 2, 2]);
  expect(rankOf({ ...rest, kind: 'winning-post', priority: 'low' })).toBe(3);
  expect(rankOf({ kind: 'circom', key: 'k', payload: 'p' })).toBe(2);
});
