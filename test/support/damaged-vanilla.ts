import { checkPorepHead, checkPorepPartition } from '../../src/circuits/filecoin/check-porep.ts';
import { checkPostPartition } from '../../src/circuits/filecoin/check-post.ts';
import { checkSnapDealsPartition } from '../../src/circuits/filecoin/check-snap-deals.ts';
import { sectorConfig } from '../../src/circuits/filecoin/sector-size.ts';
import type {
  PorepStatement,
  PostStatement,
  SnapDealsStatement,
} from '../../src/circuits/filecoin/statement.ts';
import { readC1 } from '../../src/formats/c1.ts';
import { readSectorProof, readUpdateProof } from '../../src/formats/vanilla.ts';
import { Pacer } from '../../src/math/pacer.ts';
import type { Leaf } from './damage.ts';
import { goldenProof, goldenStatement, vanillaFiles } from './vanilla.ts';

const pacer = new Pacer(new AbortController().signal);

/** What the check of a damaged vanilla proof says. */
export async function verdictOn(leaf: Leaf, check: () => Promise<unknown>): Promise<string> {
  return await leaf.damaged(check).then(
    () => 'accepted',
    (thrown: { code?: string; message: string }) => `${thrown.code} ${thrown.message}`,
  );
}

/** A golden vanilla proof, decoded, and its check. */
export interface Checked {
  readonly vanilla: object;
  check(): Promise<unknown>;
  /** The place that a message names for a leaf at `path`, at least. */
  placeOf(path: string): string;
}

export type CheckedName = 'porep-2kib' | 'window-2kib' | 'winning-2kib' | 'snap-2kib';

export const CHECKED: Readonly<Record<CheckedName, () => Promise<Checked>>> = {
  async 'porep-2kib'() {
    const statement = goldenStatement('porep-2kib') as PorepStatement;
    const [file] = vanillaFiles(goldenProof('porep-2kib'));
    const { proof: _, ...vanilla } = await readC1(file as NonNullable<typeof file>);
    const [challenges = []] = vanilla.partitions;
    return {
      vanilla,
      async check() {
        checkPorepHead(statement, vanilla);
        await checkPorepPartition(statement, 0, challenges, pacer);
      },
      placeOf: porepPlace,
    };
  },
  async 'window-2kib'() {
    const statement = goldenStatement('window-2kib') as PostStatement;
    const config = sectorConfig('2KiB');
    const sectors = await Promise.all(
      vanillaFiles(goldenProof('window-2kib')).map((file) => readSectorProof(file, config, 10)),
    );
    return {
      vanilla: sectors,
      check: () => checkPostPartition(statement, 0, sectors, pacer),
      placeOf: (path) => sectorPlace(path, statement.sectors),
    };
  },
  async 'winning-2kib'() {
    const statement = goldenStatement('winning-2kib') as PostStatement;
    const [file] = vanillaFiles(goldenProof('winning-2kib'));
    const proof = await readSectorProof(file as NonNullable<typeof file>, sectorConfig('2KiB'), 66);
    return {
      vanilla: [proof],
      check: () => checkPostPartition(statement, 0, [proof], pacer),
      placeOf: (path) => sectorPlace(path, statement.sectors),
    };
  },
  async 'snap-2kib'() {
    const statement = goldenStatement('snap-2kib') as SnapDealsStatement;
    const [file] = vanillaFiles(goldenProof('snap-2kib'));
    const proof = await readUpdateProof(file as NonNullable<typeof file>, sectorConfig('2KiB'));
    return {
      vanilla: proof,
      check: () => checkSnapDealsPartition(statement, 0, proof, pacer),
      placeOf: snapPlace,
    };
  },
};

const HEAD: Readonly<Record<string, string>> = {
  ...{ commR: 'comm_r', commD: 'comm_d', replicaId: 'replica_id' },
};

function porepPlace(path: string): string {
  const [, , challenge, part, i] = path.split('.');
  const head = path.replace(/\.\d+$/, '');
  if (!path.startsWith('partitions')) return HEAD[head] ?? head;
  // The roots of the first challenge are what the others are held to.
  if (/^partitions\.0\.0\.(replica|column\.inclusion)\.root$/.test(path)) return 'partition 0: ';
  const where = `partition 0, challenge ${challenge}, `;
  if (part === 'drgParents') return `${where}drg parent ${i}`;
  if (part === 'expParents') return `${where}exp parent ${i}`;
  return where;
}

function sectorPlace(path: string, sectors: PostStatement['sectors']): string {
  const [sector, part, challenge] = path.split('.');
  const number = sectors[Number(sector)]?.number;
  const where = `partition 0, sector ${number}`;
  return part === 'inclusions' ? `${where}, challenge ${challenge}` : where;
}

function snapPlace(path: string): string {
  const [part, challenge] = path.split('.');
  const isShared = /^challenges\.0\.(oldReplica|newReplica)\.root$/.test(path);
  if (part !== 'challenges' || isShared) return 'partition 0: ';
  // The highest levels of the first path in tree D lead from the apex leaves to its root.
  return `partition 0, challenge ${challenge}, `;
}
