import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ProverError } from '../../../src/core/errors.ts';
import { MIB } from '../../../src/core/units.ts';
import { readParameters, readProof, readVerifyingKey } from '../../../src/formats/bellman.ts';
import { readR1cs } from '../../../src/formats/r1cs.ts';
import {
  parsePublicInputs,
  parseSnarkjsProof,
  parseVerificationKey,
  writeSnarkjsProof,
} from '../../../src/formats/snarkjs-json.ts';
import { checkCanonical, readWtns } from '../../../src/formats/wtns.ts';
import { readZkey } from '../../../src/formats/zkey.ts';
import { readCoefficients } from '../../../src/groth16/coefficient-rows.ts';
import { golden } from '../../support/shared.ts';
import { listOf, sampleR1cs, sampleWtns, sampleZkey, watched } from './samples.ts';

const SEED = process.env.SEED === undefined ? undefined : Number.parseInt(process.env.SEED, 36);
const seeded = (numRuns: number) => ({ numRuns, ...(SEED !== undefined && { seed: SEED }) });
const load = (name: string) => new Uint8Array(readFileSync(golden(name)));

interface Reader {
  readonly name: string;
  readonly sample: () => Promise<Uint8Array>;
  readonly read: (source: ReturnType<typeof watched>) => Promise<unknown>;
  readonly runs: number;
  /** Largest read, besides what the file itself holds of it. */
  readonly readBytesMax: number;
}

const READERS: readonly Reader[] = [
  {
    name: 'zkey',
    sample: () => sampleZkey('bn254'),
    read: async (source) => {
      const { key } = await readZkey(source, '/k.zkey');
      await listOf(readCoefficients(source, key));
    },
    runs: 150,
    readBytesMax: MIB,
  },
  {
    name: 'wtns',
    sample: () => sampleWtns('bls12-381'),
    read: async (source) => checkCanonical(source, await readWtns(source)),
    runs: 500,
    readBytesMax: 2 * MIB,
  },
  {
    name: 'r1cs',
    sample: () => sampleR1cs('bn254'),
    read: async (source) => listOf((await readR1cs(source)).constraints()),
    runs: 500,
    readBytesMax: MIB,
  },
  {
    name: 'parameters',
    sample: async () => load('tiny.params'),
    read: (source) => readParameters(source, '/k.params'),
    runs: 100,
    readBytesMax: 30_000,
  },
  {
    name: 'verifying key',
    sample: async () => load('tiny.vk'),
    read: readVerifyingKey,
    runs: 100,
    readBytesMax: 30_000,
  },
  {
    name: 'proof',
    sample: async () => load('tiny.proof'),
    read: async (source) => readProof('proof', await source.read(0, source.size)),
    runs: 100,
    readBytesMax: 1000,
  },
];

/** One change to a file: a byte, a word of extreme value, a cut, bytes taken out or put in. */
type Mutation =
  | { readonly kind: 'byte'; readonly at: number; readonly value: number }
  | { readonly kind: 'word'; readonly at: number; readonly value: number }
  | { readonly kind: 'cut'; readonly at: number }
  | { readonly kind: 'splice'; readonly at: number; readonly removed: number; put: Uint8Array };

const at = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.record({ kind: fc.constant('byte' as const), at, value: fc.integer({ min: 0, max: 255 }) }),
  fc.record({
    kind: fc.constant('word' as const),
    at,
    value: fc.constantFrom(0, 1, 2, 2 ** 16, 2 ** 28, 2 ** 31, 2 ** 32 - 2, 2 ** 32 - 1),
  }),
  fc.record({ kind: fc.constant('cut' as const), at }),
  fc.record({
    kind: fc.constant('splice' as const),
    at,
    removed: fc.integer({ min: 0, max: 64 }),
    put: fc.uint8Array({ maxLength: 64 }),
  }),
);

/** Half of the changes hit the first 200 bytes, where the headers are. */
function mutate(bytes: Uint8Array, changes: readonly Mutation[]): Uint8Array {
  return changes.reduce((current, change, i) => {
    const range = i % 2 === 0 ? current.length : Math.min(200, current.length);
    const offset = Math.floor(change.at * range);
    if (change.kind === 'cut') return current.slice(0, offset);
    if (change.kind === 'splice') {
      return Uint8Array.from([
        ...current.subarray(0, offset),
        ...change.put,
        ...current.subarray(offset + change.removed),
      ]);
    }
    const copy = current.slice();
    if (change.kind === 'byte') copy.fill(change.value, offset, offset + 1);
    else if (offset + 4 <= copy.length) {
      new DataView(copy.buffer).setUint32(offset, change.value, offset % 8 !== 0);
    }
    return copy;
  }, bytes);
}

describe.each(READERS)('a mutated $name', ({ sample, read, runs, readBytesMax }) => {
  it('is read or refused with ERR_FORMAT, without a large read', async () => {
    const bytes = await sample();
    const intact = watched(bytes);
    await read(intact);
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 4 }), async (changes) => {
        const source = watched(mutate(bytes, changes));
        try {
          await read(source);
        } catch (error) {
          refused++;
          expect(error).toBeInstanceOf(ProverError);
          expect((error as ProverError).code).toBe('ERR_FORMAT');
          expect((error as ProverError).message).not.toContain('\n');
        }
        expect(source.largestRead).toBeLessThanOrEqual(readBytesMax);
      }),
      seeded(runs),
    );
    expect(refused).toBeGreaterThan(runs / 4);
  });

  it('is refused when it is random bytes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), async (bytes) => {
        await expect(read(watched(bytes))).rejects.toMatchObject({ code: 'ERR_FORMAT' });
      }),
      seeded(runs),
    );
  });
});

describe('arbitrary JSON', () => {
  const valid = writeSnarkjsProof(readProof('proof', load('tiny.proof')));
  const noise = fc.oneof(fc.jsonValue(), fc.constantFrom('0', '1', '-1', '0x1', ['0', '1', '0']));

  it('is parsed or refused with ERR_FORMAT', () => {
    const parsers = [
      (value: unknown) => parseSnarkjsProof(value, 'bls12-381'),
      parseVerificationKey,
      (value: unknown) => parsePublicInputs(value, 'bn254'),
    ];
    const check = (value: unknown) => {
      for (const parse of parsers) {
        try {
          parse(value);
        } catch (error) {
          expect(error).toBeInstanceOf(ProverError);
          expect((error as ProverError).code).toBe('ERR_FORMAT');
        }
      }
    };
    fc.assert(fc.property(noise, check), seeded(500));
    const field = fc.constantFrom(...Object.keys(valid));
    const withNoise = fc.tuple(field, noise).map(([name, part]) => ({ ...valid, [name]: part }));
    fc.assert(fc.property(withNoise, check), seeded(500));
  });
});
