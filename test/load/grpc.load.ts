import { expect, it } from 'vitest';
import { grpcProcess, proveAtOnce } from '../support/grpc-load.ts';

/** A PoRep of 32 GiB as Curio sends it. */
const MESSAGE_BYTES = 51_000_000;
const COUNT = 20;
/** Two messages at a time, each of them twice while its pieces are joined, and the rest. */
const PEAK_MIB_MAX = 640;

it('takes twenty messages of 51 MB at once within its limits', async () => {
  await using service = await grpcProcess('held', COUNT);
  const before = await service.measure();
  const start = performance.now();
  const answers = proveAtOnce(service.client, COUNT, MESSAGE_BYTES);
  await service.running(COUNT);
  const seconds = (performance.now() - start) / 1000;
  const { loopMs, rssMiB } = await service.measure();
  const peakMiB = await service.peakMiB();
  service.go();
  console.log({ seconds, loopMs, beforeMiB: before.rssMiB, heldMiB: rssMiB, peakMiB });
  expect(await answers).toEqual(Array.from({ length: COUNT }, () => 'status 1'));
  expect(loopMs.p99).toBeLessThan(50);
  expect(peakMiB).toBeLessThan(PEAK_MIB_MAX);
});
