import { describe, expect, it } from 'vitest';
import { fromBytes } from '../../../src/core/source.ts';
import { C1_BYTES_MAX, readC1 } from '../../../src/formats/c1.ts';
import { goldenBytes } from '../../support/vanilla.ts';

const BARE = Buffer.from(goldenBytes('porep-2kib-c1.json.gz')).toString();
const WRAPPED = JSON.parse(Buffer.from(goldenBytes('porep-2kib-c1-wrapped.json.gz')).toString());

const read = (text: string, keep?: (partition: number) => boolean) =>
  readC1(fromBytes('c1.json', new Uint8Array(Buffer.from(text))), keep && { keep });
const changed = (change: (c1: Record<string, unknown>) => void) => {
  const c1 = JSON.parse(BARE);
  change(c1);
  return JSON.stringify(c1);
};

describe('the output of the first phase', () => {
  it('is the same bare and wrapped, in any order, with spaces', async () => {
    const c1 = await read(BARE);
    expect(c1.proof.name).toBe('StackedDrg2KiBV1_1');
    expect(c1.partitions.map((partition) => partition.length)).toEqual([2]);
    expect(await read(JSON.stringify(WRAPPED))).toEqual({ ...c1, sector: 1n });
    const { Phase1Out, SectorSize, SectorNum } = WRAPPED;
    const other = JSON.stringify({ Phase1Out, SectorSize, SectorNum }, null, 2);
    expect(await read(`\n${other}\n`)).toEqual({ ...c1, sector: 1n });
    const reversed = Object.fromEntries(Object.entries(JSON.parse(BARE)).reverse());
    expect(await read(JSON.stringify(reversed, null, 1))).toEqual(c1);
  });

  it('has the partitions that are asked for, and reads the others', async () => {
    const c1 = changed(({ vanilla_proofs }) => {
      const proofs = vanilla_proofs as Record<string, unknown[]>;
      const [partition] = proofs.StackedDrg2KiBV1 as unknown[];
      proofs.StackedDrg2KiBV1 = new Array(13).fill(partition);
    });
    const { partitions } = await read(c1, (partition) => partition === 12);
    expect(partitions.map((partition) => partition.length)).toEqual([...new Array(12).fill(0), 2]);
    await expect(
      read(c1.replace('"StackedDrg2KiBV1":[', '"StackedDrg2KiBV1":[[],')),
    ).rejects.toThrow(
      'vanilla_proofs, StackedDrg2KiBV1, partition 0: expected 2 (challenge), got 0',
    );
  });

  describe('where the other partitions were checked before', () => {
    const NI = Buffer.from(goldenBytes('variants/porep-2kib-ni-c1.json.gz')).toString();
    const only = (text: string, kept: number) =>
      readC1(fromBytes('c1.json', new Uint8Array(Buffer.from(text))), {
        keep: (partition) => partition === kept,
        othersChecked: true,
      });

    it.each([0, 7, 12])('has partition %d all the same', async (kept) => {
      expect(await only(NI, kept)).toEqual(await read(NI, (partition) => partition === kept));
      const spaced = JSON.stringify(JSON.parse(NI), null, 1);
      expect(await only(spaced, kept)).toEqual(await only(NI, kept));
    });

    it('looks at the values of that one only', async () => {
      const c1 = changed(({ vanilla_proofs }) => {
        const proofs = vanilla_proofs as Record<string, unknown[]>;
        const [partition] = proofs.StackedDrg2KiBV1 as unknown[];
        proofs.StackedDrg2KiBV1 = [{ 'a ] in a text': [[]] }, partition, []];
      });
      expect((await only(c1, 1)).partitions.map(({ length }) => length)).toEqual([0, 2, 0]);
      await expect(only(c1, 2)).rejects.toThrow('partition 2: expected 2 (challenge), got 0');
    });

    it('misses an end', async () => {
      await expect(only(NI.slice(0, -2000), 0)).rejects.toMatchObject({ code: 'ERR_FORMAT' });
      await expect(only(NI.slice(0, NI.length / 2), 0)).rejects.toThrow('the end of the file');
    });
  });

  it.each([
    'registered_proof',
    'vanilla_proofs',
    'comm_r',
    'comm_d',
    'replica_id',
    'seed',
    'ticket',
  ])('needs its %s', async (name) => {
    const without = changed((c1) => delete c1[name]);
    await expect(read(without)).rejects.toThrow(`c1.json: expected a field ${name}, got none`);
  });

  it.each([
    [
      'another field',
      (c1: Record<string, unknown>) => Object.assign(c1, { more: 1 }),
      'another name',
    ],
    [
      'another proof',
      (c1: Record<string, unknown>) => Object.assign(c1, { registered_proof: 'StackedDrg3KiBV1' }),
      'c1.json: registered_proof: expected a registered proof of porep',
    ],
    [
      'another sector size',
      (c1: Record<string, unknown>) => Object.assign(c1, { registered_proof: 'StackedDrg8MiBV1' }),
      'c1.json: vanilla_proofs: expected proofs of 8MiB sectors, got 2KiB',
    ],
    [
      'too many partitions',
      (c1: Record<string, unknown>) => {
        const proofs = c1.vanilla_proofs as Record<string, unknown[]>;
        proofs.StackedDrg2KiBV1 = new Array(14).fill(proofs.StackedDrg2KiBV1?.[0]);
      },
      'at most 13 partitions, got more',
    ],
    [
      'a parent less',
      (c1: Record<string, unknown>) => {
        const proofs = c1.vanilla_proofs as Record<string, Columns[][]>;
        proofs.StackedDrg2KiBV1?.[0]?.[1]?.replica_column_proofs.drg_parents.pop();
      },
      'partition 0, challenge 1, replica_column_proofs, drg_parents: expected 6 (drg parent), got 5',
    ],
  ])('is refused with %s', async (_, change, message) => {
    const bad = read(changed(change));
    await expect(bad).rejects.toMatchObject({ code: 'ERR_FORMAT' });
    await expect(bad).rejects.toThrow(message);
  });

  it.each([BARE.length - 1, BARE.length / 2, 1, 0])(
    'is refused where it ends at %i',
    async (end) => {
      await expect(read(BARE.slice(0, end))).rejects.toMatchObject({ code: 'ERR_FORMAT' });
    },
  );

  it('is refused with something after it', async () => {
    await expect(read(`${BARE}{}`)).rejects.toThrow('expected the end of the file, got more');
  });

  it('is refused unread where it is too large', async () => {
    const source = { ...fromBytes('c1.json', new Uint8Array(0)), size: C1_BYTES_MAX + 1 };
    await expect(readC1(source)).rejects.toMatchObject({ code: 'ERR_TOO_LARGE' });
  });
});

interface Columns {
  readonly replica_column_proofs: { readonly drg_parents: unknown[] };
}

describe('a wrapper', () => {
  it.each([
    [{ SectorSize: 8 * 2 ** 20 }, 'c1.json: SectorSize: expected 2048 (StackedDrg2KiBV1_1)'],
    [{ SectorNum: 'one' }, 'SectorNum: expected a number'],
    [{ More: 1 }, 'SectorNum, Phase1Out or SectorSize'],
    [{ Phase1Out: WRAPPED.Phase1Out.slice(0, -1) }, 'padded base64'],
    [{ Phase1Out: `${WRAPPED.Phase1Out.slice(0, 400)}*AAA` }, 'base64, got other characters'],
    [{ Phase1Out: 'AAAA' }, 'Phase1Out'],
  ])('is refused: %#', async (change, message) => {
    const bad = read(JSON.stringify({ ...WRAPPED, ...change }));
    await expect(bad).rejects.toMatchObject({ code: 'ERR_FORMAT' });
    await expect(bad).rejects.toThrow(message);
  });

  it('needs all of it', async () => {
    const { SectorNum: _, ...rest } = WRAPPED;
    await expect(read(JSON.stringify(rest))).rejects.toThrow('SectorNum, Phase1Out and SectorSize');
  });
});
