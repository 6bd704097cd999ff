import { expect, it } from 'vitest';
import { RateLimit } from '../../../src/rpc/limits.ts';

it('lets a burst in, then one request at a time', () => {
  let now = 0;
  const limit = new RateLimit(60, () => now);
  const taken = () => Array.from({ length: 61 }, () => limit.take('a'));
  expect(taken()).toEqual([...Array(60).fill(0), 1]);
  now = 500;
  expect(limit.take('a')).toBe(1);
  now = 1000;
  expect(limit.take('a')).toBe(0);
  expect(limit.take('a')).toBe(1);
});

it('counts each caller for itself, and a quiet minute refills', () => {
  let now = 0;
  const limit = new RateLimit(2, () => now);
  expect([limit.take('a'), limit.take('a'), limit.take('a'), limit.take('b')]).toEqual([
    0, 0, 30, 0,
  ]);
  now = 600_000;
  expect([limit.take('a'), limit.take('a'), limit.take('a')]).toEqual([0, 0, 30]);
});
