import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { cpuReference } from '../../backends/cpu-reference/backend.ts';
import type { PartitionInput, ProverBackend } from '../../src/backend/backend.ts';
import type { Blinding, PointQuery, Proof, ProvingKeySource } from '../../src/groth16/types.ts';
import type { FrCanonicalLE, G2Bytes } from '../../src/math/curve.ts';
import { withBytes } from '../support/key-files.ts';
import { backendConformance, conformanceCases } from './suite.ts';

describe('cpu-reference', () => {
  backendConformance({ make: () => cpuReference, sizes: [1, 2, 7, 64, 256], abortSize: 32 });
});

/** What a faulty backend does differently. */
interface Fault {
  key?(key: ProvingKeySource): Promise<ProvingKeySource>;
  input?(input: PartitionInput): PartitionInput;
  blinding?(blinding: Blinding): Blinding;
  proof?(proof: Proof): Proof;
}

function mutant({ key, input, blinding, proof }: Fault): ProverBackend {
  return {
    ...cpuReference,
    async open(id, deviceOptions) {
      const device = await cpuReference.open(id, deviceOptions);
      return {
        ...device,
        async load(source, options, run) {
          const loaded = await device.load((await key?.(source)) ?? source, options, run);
          return {
            stage: (values, run) => loaded.stage(input?.(values) ?? values, run),
            compute: (staged, rs, run) => loaded.compute(staged, blinding?.(rs) ?? rs, run),
            async finish(computed, run) {
              const result = await loaded.finish(computed, run);
              return proof?.(result) ?? result;
            },
            [Symbol.asyncDispose]: () => loaded[Symbol.asyncDispose](),
          };
        },
      };
    },
  };
}

/** The key with the second point of a query in place of the third, too. */
async function repeated(key: ProvingKeySource, query: PointQuery): Promise<ProvingKeySource> {
  const size = query.slice.length / query.count;
  const second = query.slice.offset + size;
  const file = await readFile(query.slice.path);
  return withBytes(key, second + size, file.subarray(second, second + size));
}

function swapHalves(b: G2Bytes): G2Bytes {
  const quarter = b.length / 4;
  const part = (i: number) => b.subarray(i * quarter, (i + 1) * quarter);
  return new Uint8Array(Buffer.concat([part(1), part(0), part(3), part(2)])) as G2Bytes;
}

function withOtherPublicInput(input: PartitionInput): PartitionInput {
  if (input.kind === 'program' || !('bytes' in input.witness)) return input;
  const bytes = input.witness.bytes.slice();
  bytes[32] = (bytes[32] as number) ^ 1;
  return { ...input, witness: { n: input.witness.n, bytes } };
}

const WRONG_PROOFS: Readonly<Record<string, Fault>> = {
  'a wrong point of h': { key: (key) => repeated(key, key.h) },
  'a wrong point of b in G1, so that B is another one in G2': {
    key: (key) => repeated(key, key.bG1),
  },
  'a wrong point of b in G2': { key: (key) => repeated(key, key.bG2) },
  'c0 and c1 of B exchanged': { proof: (proof) => ({ ...proof, b: swapHalves(proof.b) }) },
  'A and C exchanged': { proof: (proof) => ({ ...proof, a: proof.c, c: proof.a }) },
  'another public input': { input: withOtherPublicInput },
};

describe('the suite tells a faulty backend', () => {
  const cases = conformanceCases({ sizes: [7], abortSize: 1 }).filter(({ name }) =>
    name.endsWith(': 7 constraints'),
  );

  it('looks at every kind of key', () => expect(cases).toHaveLength(3));

  describe.each(Object.entries(WRONG_PROOFS))('%s', (_, fault) => {
    it.each(cases)('$name', async ({ run }) => {
      await expect(run(mutant(fault))).rejects.toThrow('verification: expected');
    });
  });

  describe('a valid proof with a blinding of its own', () => {
    const zero = () => new Uint8Array(32) as FrCanonicalLE;
    it.each(cases)('$name', async ({ run }) => {
      const own = mutant({ blinding: () => ({ r: zero(), s: zero() }) });
      await expect(run(own)).rejects.toThrow('bytes by field arithmetic: expected');
    });
  });
});
