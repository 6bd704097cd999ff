import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { PartitionReader } from '../../../src/host/partition-reader.ts';
import type { PartitionSource } from '../../../src/host/protocol.ts';
import { golden } from '../../support/shared.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { goldenBytes } from '../../support/vanilla.ts';

const { signal } = new AbortController();
const source = (partition: number, sectors = [21, 22, 23]): PartitionSource => ({
  statement: { path: golden('variants/window-2kib-3sectors.statement.json') },
  vanilla: sectors.map((sector) => ({
    path: golden(`variants/window-2kib-3sectors-vanilla-sector${sector}.bin`),
  })),
  partition,
});

let reader: PartitionReader;
beforeEach(() => {
  reader = new PartitionReader();
});

it('gives what it has read, once, and the times of it', async () => {
  reader.readAhead(source(1));
  const taken = reader.take(source(1));
  const partition = await taken?.get(signal);
  expect(partition?.circuit).toEqual({ kind: 'window-post', sectorSize: '2KiB' });
  const ended = taken?.endedAt();
  expect(ended).toBeGreaterThan(taken?.startedAt as number);
  await new Promise((resolve) => setTimeout(resolve, 2));
  expect(taken?.endedAt()).toBe(ended);
  expect(reader.take(source(1))).toBeUndefined();
});

it.each([
  ['another partition', source(0)],
  ['another file', source(1, [21, 22, 22])],
])('does not give %s', (_, other) => {
  reader.readAhead(source(1));
  expect(reader.take(other)).toBeUndefined();
  expect(reader.take(source(1))).toBeUndefined();
});

it('tells what is wrong to whoever asks for it, and to nobody else', async () => {
  new PartitionReader().readAhead(source(1, [21, 22, 22]));
  reader.readAhead(source(1, [21, 22, 22]));
  await expect(reader.take(source(1, [21, 22, 22]))?.get(signal)).rejects.toMatchObject({
    code: 'ERR_FORMAT',
  });
});

it('ends with the call that waits for it', async () => {
  const long: PartitionSource = {
    statement: { path: golden('winning-32gib.statement.json') },
    vanilla: [{ path: golden('winning-32gib-vanilla.bin') }],
    partition: 0,
  };
  reader.readAhead(long);
  const call = new AbortController();
  const waiting = reader.take(long)?.get(call.signal);
  call.abort();
  await expect(waiting).rejects.toMatchObject({ code: 'ERR_CANCELLED' });
  reader.readAhead(long);
  await expect(reader.take(long)?.get(AbortSignal.abort())).rejects.toMatchObject({
    code: 'ERR_CANCELLED',
  });
});

it('forgets what is dropped', () => {
  reader.readAhead(source(1));
  reader.drop();
  expect(reader.take(source(1))).toBeUndefined();
});

describe('another partition of the same files', () => {
  const c1 = Buffer.from(goldenBytes('variants/porep-2kib-ni-c1.json.gz'));
  const statement = { path: golden('variants/porep-2kib-ni.statement.json') };
  /** Without the last partition. */
  const shorter = () => {
    const value = JSON.parse(c1.toString());
    value.vanilla_proofs.StackedDrg2KiBV1.pop();
    value.vanilla_proofs.StackedDrg2KiBV1.push([]);
    return JSON.stringify(value);
  };
  let path: string;
  beforeEach(async () => {
    path = join(temporaryFolder(), 'c1.json');
    await writeFile(path, c1);
  });

  it('is what a reader of its own gives', async () => {
    const vanilla = [{ path, sha256: createHash('sha256').update(c1).digest('hex') }];
    const read = (partition: number, by = reader) =>
      by.read({ statement, vanilla, partition }, signal);
    await read(0);
    expect(await read(12)).toEqual(await read(12, new PartitionReader()));
  });

  it('of files without a digest is read as if they were others', async () => {
    const source = { statement, vanilla: [{ path }], partition: 0 };
    await reader.read(source, signal);
    await writeFile(path, shorter());
    await expect(reader.read(source, signal)).rejects.toThrow('partition 12');
  });
});
