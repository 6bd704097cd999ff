import { expect, it } from 'vitest';
import { grpcProcess, proveAtOnce } from '../support/grpc-load.ts';
import { firstPhase } from '../support/lotus.ts';

const MESSAGE_BYTES = 10_000_000;
const COUNT = 16;

it('takes large messages at once with bounded memory, off the main thread', async () => {
  await using service = await grpcProcess('held', COUNT);
  const before = (await service.measure()).rssMiB;
  const answers = proveAtOnce(service.client, COUNT, MESSAGE_BYTES);
  await service.running(COUNT);
  const { loopMs, rssMiB } = await service.measure();
  service.go();
  expect(await answers).toEqual(Array.from({ length: COUNT }, () => 'status 1'));
  // The load test has the ninety-ninth, on a machine that does nothing else.
  expect(loopMs.p90).toBeLessThan(50);
  // Two at a time are in memory, twice while their pieces are joined; none while it is proved.
  expect(rssMiB - before).toBeLessThan((COUNT * MESSAGE_BYTES) / 2 ** 20);
});

it('refuses none before the queue is full, and then says that it is', async () => {
  await using service = await grpcProcess('queued', 3);
  const vanilla_proof = firstPhase();
  const submit = (sector_number: number) =>
    service.client.call('SubmitProof', {
      ...{ request_id: `porep-1000-${sector_number}`, proof_kind: 1, miner_id: 1000 },
      ...{ sector_number, vanilla_proof },
    });
  const positions: number[] = [];
  for (const sector of [1, 2, 3]) positions.push((await submit(sector)).queue_position);
  expect(positions).toEqual([0, 1, 2]);
  const details = expect.stringMatching(/fewer than 3 waiting jobs/);
  await expect(submit(4)).rejects.toMatchObject({ code: 8, details });
});
