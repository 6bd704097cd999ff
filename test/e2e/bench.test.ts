import { expect, it } from 'vitest';
import { proofline } from '../support/command.ts';

it('measures a small chain on each backend, against snarkjs', async () => {
  const bench = ['bench', 'prove', '--size', '50', '--runs', '1', '--json'];
  const reference = await proofline([...bench, '--backend', 'cpu-reference']);
  expect(reference).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(reference.stdout)).toMatchObject({ backend: 'cpu-reference', log_n: 6 });
  const fastest = await proofline([...bench, '--against', 'snarkjs']);
  const { seconds, peer_seconds, ratio } = JSON.parse(fastest.stdout);
  expect(ratio).toBeCloseTo(peer_seconds / seconds, 6);
});

it('measures a circuit of its own', async () => {
  const example = (name: string) => `examples/preimage/${name}`;
  const files = ['--r1cs', example('preimage.r1cs'), '--witness', example('witness.wtns')];
  const ran = await proofline(['bench', 'prove', ...files, '--runs', '1', '--json']);
  expect(JSON.parse(ran.stdout)).toMatchObject({ constraints: 455, curve: 'bn254' });
});

it('measures the native parts where they are built, and says so where not', async () => {
  for (const what of ['msm', 'ntt']) {
    const ran = await proofline(['bench', what, '--size', '2^8', '--runs', '1', '--json']);
    const answer = JSON.parse(ran.stdout);
    if (ran.code === 0)
      expect(answer).toMatchObject({ what, log_n: 8, threads: expect.anything() });
    else expect(answer).toMatchObject({ error: { code: 'ERR_BACKEND_UNAVAILABLE' } });
  }
});
