import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { type CircuitKind, programOf } from '../../src/circuits/filecoin/circuits.ts';
import { type SectorSize, sectorConfig } from '../../src/circuits/filecoin/sector-size.ts';
import type { Statement } from '../../src/circuits/filecoin/statement.ts';
import { type ByteSource, fromBytes } from '../../src/core/source.ts';
import { parseStatement } from '../../src/formats/statement.ts';
import { type Program, readProgram } from '../../src/r1cs/program.ts';
import { golden } from './shared.ts';

/** A golden statement with its vanilla proofs; `partitions` are those whose hashes are known. */
export interface GoldenProof {
  readonly name: string;
  readonly vanilla: readonly string[];
  /** The file of hashes of each partition. */
  readonly partitions: Readonly<Record<number, string>>;
}

const ONE = (name: string) => ({ 0: `${name}-0.json` });
const C1 = (name: string): GoldenProof => ({
  ...{ name: `variants/${name}`, vanilla: [`variants/${name}-c1.json.gz`] },
  partitions: ONE(`variants/${name}`),
});
const sectors = (name: string, numbers: readonly number[]) =>
  numbers.map((number) => `${name}-vanilla-sector${number}.bin`);

/** Everything of 2 KiB and 8 MiB, and the smallest of the full-size ones. */
export const GOLDEN_PROOFS: readonly GoldenProof[] = [
  { name: 'porep-2kib', vanilla: ['porep-2kib-c1.json.gz'], partitions: { 0: 'porep-2kib.json' } },
  {
    ...{ name: 'winning-2kib', vanilla: ['winning-2kib-vanilla.bin'] },
    partitions: { 0: 'winning-2kib.json' },
  },
  {
    ...{ name: 'window-2kib', vanilla: sectors('window-2kib', [1, 2]) },
    partitions: { 0: 'window-2kib.json' },
  },
  {
    ...{ name: 'snap-2kib', vanilla: ['snap-2kib-partition0.bin'] },
    partitions: { 0: 'snap-2kib.json' },
  },
  {
    ...C1('porep-2kib-ni'),
    partitions: { 0: 'variants/porep-2kib-ni-0.json', 12: 'variants/porep-2kib-ni-12.json' },
  },
  ...['s21', 's22', 's23', 'synthetic', 'v1'].map((variant) => C1(`porep-2kib-${variant}`)),
  C1('porep-8mib'),
  {
    name: 'variants/window-2kib-3sectors',
    vanilla: sectors('variants/window-2kib-3sectors', [21, 22, 23]),
    partitions: {
      0: 'variants/window-2kib-3sectors-0.json',
      1: 'variants/window-2kib-3sectors-1.json',
    },
  },
  {
    ...{ name: 'variants/window-2kib-v1', vanilla: sectors('variants/window-2kib-v1', [22]) },
    partitions: ONE('variants/window-2kib-v1'),
  },
  {
    ...{ name: 'variants/winning-2kib', vanilla: sectors('variants/winning-2kib', [23]) },
    partitions: ONE('variants/winning-2kib'),
  },
  {
    ...{ name: 'winning-32gib', vanilla: ['winning-32gib-vanilla.bin'] },
    partitions: { 0: 'winning-32gib.witness.json' },
  },
];

/** Too large for TypeScript's own vectors, or for a short test. */
const FULL_SIZE: readonly GoldenProof[] = [
  {
    ...{ name: 'porep-32gib', vanilla: ['porep-32gib-c1-partition0.json.gz'] },
    partitions: { 0: 'porep-32gib-0.witness.json' },
  },
  {
    ...{ name: 'window-32gib', vanilla: sectors('window-32gib', [1, 2, 3]) },
    partitions: { 0: 'window-32gib.witness.json' },
  },
];

export function goldenProof(name: string): GoldenProof {
  const found = [...GOLDEN_PROOFS, ...FULL_SIZE].find((proof) => proof.name === name);
  if (found === undefined) throw new Error(`no golden proof ${name}`);
  return found;
}

export function goldenJson(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(golden(path), 'utf8'));
}

/** A golden file, unpacked. */
export function goldenBytes(path: string): Uint8Array {
  const bytes = readFileSync(golden(path));
  return new Uint8Array(path.endsWith('.gz') ? gunzipSync(bytes) : bytes);
}

export function goldenStatement(name: string): Statement {
  return parseStatement(goldenJson(`${name}.statement.json`));
}

export function vanillaFiles({ vanilla }: GoldenProof): ByteSource[] {
  return vanilla.map((path) => fromBytes(path.replace(/^.*\/|\.gz$/g, ''), goldenBytes(path)));
}

const PROGRAMS = new Map<string, Uint8Array>();

/** The program of a circuit, encoded; recorded once a test file. */
export function programBytes(kind: CircuitKind, size: SectorSize): Uint8Array {
  const key = `${kind} ${size}`;
  const known = PROGRAMS.get(key) ?? programOf(kind, sectorConfig(size));
  PROGRAMS.set(key, known);
  return known;
}

export function programFor(kind: CircuitKind, size: SectorSize): Program {
  return readProgram(programBytes(kind, size));
}
