import { expect, it } from 'vitest';
import { fromWireNames, toWireName, withWireNames } from '../../../src/core/wire-names.ts';

it('names go to the wire and come back', () => {
  const ours = { jobId: 'a', retryAfterSeconds: 7, limit: 3 };
  const wire = { job_id: 'a', retry_after_seconds: 7, limit: 3 };
  expect(withWireNames(ours)).toEqual(wire);
  expect(fromWireNames(wire)).toEqual(ours);
  expect(toWireName('keyDigest')).toBe('key_digest');
});
