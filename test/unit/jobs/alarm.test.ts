import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { Micros } from '../../../src/core/units.ts';
import { alarm } from '../../../src/jobs/alarm.ts';

const DAY_MS = 86_400_000;
const NOW = Date.parse('2027-01-01T00:00:00Z');
const after = (ms: number) => ((NOW + ms) * 1000) as Micros;
const ring = vi.fn();

beforeEach(() => vi.useFakeTimers({ now: NOW }));
afterEach(() => {
  vi.useRealTimers();
  ring.mockReset();
});

it('rings once the time has come, and not before', () => {
  alarm(after(1500), ring);
  vi.advanceTimersByTime(1499);
  expect(ring).not.toHaveBeenCalled();
  vi.advanceTimersByTime(10 * DAY_MS);
  expect(ring).toHaveBeenCalledTimes(1);
});

it('waits longer than a timer can', () => {
  alarm(after(40 * DAY_MS), ring);
  vi.advanceTimersByTime(39 * DAY_MS);
  expect(ring).not.toHaveBeenCalled();
  vi.advanceTimersByTime(2 * DAY_MS);
  expect(ring).toHaveBeenCalledTimes(1);
});

it('follows a clock that is set', () => {
  alarm(after(10 * DAY_MS), ring);
  vi.advanceTimersByTime(1000);
  vi.setSystemTime(NOW + 11 * DAY_MS);
  vi.advanceTimersByTime(60_000);
  expect(ring).toHaveBeenCalledTimes(1);
});

it('can be called off', () => {
  const off = alarm(after(1500), ring);
  vi.advanceTimersByTime(1000);
  off();
  vi.advanceTimersByTime(1000);
  expect(ring).not.toHaveBeenCalled();
});
