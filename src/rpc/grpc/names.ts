import type { FilecoinRequest } from '../../jobs/job.ts';

/** What cuzk calls each kind, where. `number` is the wire's. */
interface CuzkKind {
  readonly kind: FilecoinRequest['kind'];
  readonly number: number;
  /** In its status. */
  readonly name: string;
  /** In its metrics. */
  readonly metric: string;
  /** Before the size in a circuit id. */
  readonly circuit: string;
}

export const CUZK_KINDS: readonly CuzkKind[] = [
  {
    ...{ kind: 'porep', number: 1, name: 'porep-c2', metric: 'porep_c2' },
    circuit: 'porep',
  },
  {
    ...{ kind: 'snap-deals', number: 2, name: 'snap-update', metric: 'snap_update' },
    circuit: 'snap',
  },
  {
    ...{ kind: 'window-post', number: 3, name: 'window-post', metric: 'window_post' },
    circuit: 'wpost',
  },
  {
    ...{ kind: 'winning-post', number: 4, name: 'winning-post', metric: 'winning_post' },
    circuit: 'winning',
  },
];

/** cuzk's name of a kind of job; one that it does not know keeps ours. */
export function cuzkNameOf(kind: string): string {
  return CUZK_KINDS.find((each) => each.kind === kind)?.name ?? kind;
}

/** Sizes of sectors: cuzk's two, and the others. */
const SIZES: Readonly<Record<string, string>> = {
  '2k': '2KiB',
  '8m': '8MiB',
  '512m': '512MiB',
  '32g': '32GiB',
  '64g': '64GiB',
};

export interface Circuit {
  readonly kind: FilecoinRequest['kind'];
  readonly sectorSize: string;
}

/** The circuit of an id such as `porep-32g`; undefined for any other text. */
export function circuitOf(id: string): Circuit | undefined {
  const [, prefix, size = ''] = /^([a-z]+)-(\w+)$/.exec(id) ?? [];
  const kind = CUZK_KINDS.find(({ circuit }) => circuit === prefix)?.kind;
  const sectorSize = Object.hasOwn(SIZES, size) ? SIZES[size] : undefined;
  return kind === undefined || sectorSize === undefined ? undefined : { kind, sectorSize };
}

/** The id of what a stored key says of its circuit (`porep 32GiB`); undefined where none fits. */
export function circuitId(circuit: string | undefined): string | undefined {
  const [kind, size] = circuit?.split(' ') ?? [];
  const prefix = CUZK_KINDS.find((each) => each.kind === kind)?.circuit;
  const suffix = Object.keys(SIZES).find((short) => SIZES[short] === size);
  return prefix === undefined || suffix === undefined ? undefined : `${prefix}-${suffix}`;
}
