import { porepProgram } from './porep.ts';
import { windowPostProgram, winningPostProgram } from './post.ts';
import type { SectorConfig } from './sector-size.ts';
import { snapDealsProgram } from './snap-deals.ts';

/** What Filecoin proves. The names are those of keys and jobs too. */
export type CircuitKind = 'porep' | 'window-post' | 'winning-post' | 'snap-deals';

const PROGRAMS: Readonly<Record<CircuitKind, (config: SectorConfig) => Uint8Array>> = {
  porep: porepProgram,
  'window-post': windowPostProgram,
  'winning-post': winningPostProgram,
  'snap-deals': snapDealsProgram,
};

export const CIRCUIT_KINDS = Object.keys(PROGRAMS) as readonly CircuitKind[];

/** The circuit of one partition, encoded (docs/program-format.md). Takes up to some seconds. */
export function programOf(kind: CircuitKind, config: SectorConfig): Uint8Array {
  return PROGRAMS[kind](config);
}
