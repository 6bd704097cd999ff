import { sectorConfig } from '../../src/circuits/filecoin/sector-size.ts';
import { readC1 } from '../../src/formats/c1.ts';
import { readJson } from '../../src/formats/snarkjs-json.ts';
import { parseStatement } from '../../src/formats/statement.ts';
import { readSectorProof, readUpdateProof } from '../../src/formats/vanilla.ts';
import type { Target } from './targets.ts';

const SMALL = sectorConfig('2KiB');

/** What storage providers send. The binary ones are read as JSON too, where they begin like it. */
export const FILECOIN_TARGETS: readonly Target[] = [
  {
    name: 'statement',
    kind: 'text',
    run: async (source) => `a statement of ${parseStatement(await readJson(source)).kind}`,
  },
  {
    name: 'first-phase',
    kind: 'text',
    run: async (source) => `${(await readC1(source)).partitions.length} partitions`,
  },
  {
    name: 'sector-proof',
    kind: 'binary',
    run: async (source) => {
      const { inclusions } = await readSectorProof(source, SMALL, 10);
      return `${inclusions.length} challenges`;
    },
  },
  {
    name: 'update-proof',
    kind: 'binary',
    run: async (source) => `${(await readUpdateProof(source, SMALL)).challenges.length} challenges`,
  },
];
