import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { RemoteProver } from '../../../src/cli/remote.ts';
import { connect } from '../../../src/client/client.ts';
import type { FilecoinOutcome } from '../../../src/pipeline/pipeline.ts';
import { type TestApp, testApp } from '../../support/rpc-app.ts';
import { golden } from '../../support/shared.ts';

const OUTCOME: FilecoinOutcome = {
  kind: 'winning-post',
  registeredProof: 'StackedDrgWinning2KiBV1',
  proof: 'ab'.repeat(192),
  partitions: [{ partition: 0, backend: 'cpu', device: '0', attempts: 2, fallbackReason: 'why' }],
  keyDigest: 'cd'.repeat(32),
  backend: 'cpu',
  device: '0',
  attempts: 2,
  fallbackReason: 'why',
  verified: true,
};
const digest = (bytes: Uint8Array | string) => createHash('sha256').update(bytes).digest('hex');

let app: TestApp;
beforeEach(() => {
  app = testApp();
  const { jobs } = app.services;
  const submit = jobs.submit.bind(jobs);
  jobs.submit = async (request, options) => {
    const { id } = await submit(request, options);
    jobs.complete(id, OUTCOME);
    return jobs.get(id);
  };
  // The service without a socket.
  vi.stubGlobal('fetch', (url: URL, init: RequestInit) => app.request(url.pathname, init));
});
afterEach(() => vi.unstubAllGlobals());

it('uploads vanilla proofs in their order and answers the proof', async () => {
  const vanilla = [new Uint8Array([1]), new Blob(['two']), { sha256: digest('two') }];
  const statement = { registered_proof: 0 };
  const job = await connect('http://localhost').prove({ kind: 'winning-post', statement, vanilla });
  expect(job).toMatchObject({ kind: 'winning-post', proof: OUTCOME.proof, verified: true });
  expect(job.partitions[0]?.fallback_reason).toBe('why');
  expect(app.services.jobs.submitted[0]?.request).toEqual({
    kind: 'winning-post',
    statement: digest('{"kind":"winning-post","registered_proof":0}'),
    vanilla: [digest(new Uint8Array([1])), digest('two'), digest('two')],
  });
});

it('is what `prove --server` proves by', async () => {
  await using prover = new RemoteProver('http://localhost', undefined);
  const vanilla = [golden('winning-2kib-vanilla.bin')];
  const input = { kind: 'winning-post', statement: { kind: 'winning-post' }, vanilla } as const;
  const { signal } = new AbortController();
  const report = await prover.prove({ ...input, partition: 0 }, { signal });
  expect(report).toMatchObject(OUTCOME);
  expect(app.services.jobs.submitted[0]?.request).toMatchObject({
    ...{ kind: 'winning-post', partition: 0 },
    statement: digest('{"kind":"winning-post"}'),
  });
});

it('is what `verify --server` verifies by', async () => {
  await using prover = new RemoteProver('http://localhost', undefined);
  const { signal } = new AbortController();
  const asked = { statement: { kind: 'porep' }, proof: 'ab'.repeat(192) };
  expect(await prover.verifyStatement(asked, { signal })).toEqual({ valid: true });
  expect(app.services.jobs.verified).toEqual([asked]);
});
