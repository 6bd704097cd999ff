import { beforeEach, expect, it } from 'vitest';
import type { PartitionSource } from '../../../src/host/protocol.ts';
import { ReadAhead } from '../../../src/host/read-ahead.ts';
import { golden } from '../../support/shared.ts';

const { signal } = new AbortController();
const source = (partition: number, sectors = [21, 22, 23]): PartitionSource => ({
  statement: { path: golden('variants/window-2kib-3sectors.statement.json') },
  vanilla: sectors.map((sector) => ({
    path: golden(`variants/window-2kib-3sectors-vanilla-sector${sector}.bin`),
  })),
  partition,
});

let ahead: ReadAhead;
beforeEach(() => {
  ahead = new ReadAhead();
});

it('gives what it has read, once, and the times of it', async () => {
  ahead.start(source(1));
  const taken = ahead.take(source(1));
  const partition = await taken?.get(signal);
  expect(partition?.circuit).toEqual({ kind: 'window-post', sectorSize: '2KiB' });
  const ended = taken?.endedAt();
  expect(ended).toBeGreaterThan(taken?.startedAt as number);
  await new Promise((resolve) => setTimeout(resolve, 2));
  expect(taken?.endedAt()).toBe(ended);
  expect(ahead.take(source(1))).toBeUndefined();
});

it.each([
  ['another partition', source(0)],
  ['another file', source(1, [21, 22, 22])],
])('does not give %s', (_, other) => {
  ahead.start(source(1));
  expect(ahead.take(other)).toBeUndefined();
  expect(ahead.take(source(1))).toBeUndefined();
});

it('tells what is wrong to whoever asks for it, and to nobody else', async () => {
  new ReadAhead().start(source(1, [21, 22, 22]));
  ahead.start(source(1, [21, 22, 22]));
  await expect(ahead.take(source(1, [21, 22, 22]))?.get(signal)).rejects.toMatchObject({
    code: 'ERR_FORMAT',
  });
});

it('ends with the call that waits for it', async () => {
  const long: PartitionSource = {
    statement: { path: golden('winning-32gib.statement.json') },
    vanilla: [{ path: golden('winning-32gib-vanilla.bin') }],
    partition: 0,
  };
  ahead.start(long);
  const call = new AbortController();
  const waiting = ahead.take(long)?.get(call.signal);
  call.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'ERR_CANCELLED' });
  ahead.start(long);
  await expect(ahead.take(long)?.get(AbortSignal.abort())).rejects.toMatchObject({
    code: 'ERR_CANCELLED',
  });
});

it('forgets what is dropped', () => {
  ahead.start(source(1));
  ahead.drop();
  expect(ahead.take(source(1))).toBeUndefined();
});
