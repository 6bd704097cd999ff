import { writeFile } from 'node:fs/promises';
import { groth16 } from 'snarkjs';
import { afterAll, describe, expect, it } from 'vitest';
import { parsePublicInputs, parseSnarkjsProof } from '../../../src/formats/snarkjs-json.ts';
import { writeWtns } from '../../../src/formats/wtns.ts';
import { type SetupOptions, setup } from '../../../src/groth16/setup.ts';
import { toxicWasteFromSeed } from '../../../src/groth16/toxic-waste.ts';
import { verify } from '../../../src/groth16/verify.ts';
import type { CurveName } from '../../../src/math/curve.ts';
import type { ConstraintSystemSource } from '../../../src/r1cs/constraint-system.ts';
import { endSnarkjs } from '../../support/end-snarkjs.ts';
import { developmentKey, keyBytes, temporaryPath } from '../../support/key-files.ts';
import {
  chain,
  type Example,
  publicInputsOf,
  scalarBytes,
  systemOf,
} from '../../support/system.ts';

afterAll(endSnarkjs);

const options = (curve: CurveName, more: Partial<SetupOptions> = {}): SetupOptions => ({
  format: 'zkey',
  waste: toxicWasteFromSeed(curve, 'setup test'),
  signal: new AbortController().signal,
  ...more,
});

describe.each(['bn254', 'bls12-381'] as const)('setup of a zkey on %s', (curve) => {
  it('makes a key that snarkjs proves with', async () => {
    const example = chain({ curve, constraints: 5, publicInputs: 2, first: 3n, unused: 1 });
    const { verifyingKey, a } = await developmentKey(
      example.system,
      'zkey',
      toxicWasteFromSeed(curve, 'setup test'),
    );
    const wtns = await temporaryPath('witness.wtns');
    const { length } = example.values;
    await writeFile(
      wtns,
      writeWtns(curve, { count: length, bytes: [scalarBytes(example.values)] }),
    );
    const { proof, publicSignals } = await groth16.prove(a.slice.path, wtns);
    expect(parsePublicInputs(publicSignals, curve)).toEqual(publicInputsOf(example));
    const verdict = await verify(
      verifyingKey,
      publicInputsOf(example),
      parseSnarkjsProof(proof, curve),
    );
    expect(verdict).toEqual({ valid: true });
  });
});

describe('setup', () => {
  const small = (unused = 0): Example =>
    chain({ curve: 'bls12-381', constraints: 3, publicInputs: 1, first: 3n, unused });

  it('is a function of the toxic waste', async () => {
    const bytesOf = async (seed: string): Promise<Buffer> => {
      const waste = toxicWasteFromSeed('bls12-381', seed);
      const parts: Uint8Array[] = [];
      const content = await setup(system, options('bls12-381', { waste }));
      for await (const part of keyBytes(content)) parts.push(part);
      return Buffer.concat(parts);
    };
    const { system } = small();
    const first = await bytesOf('one');
    expect((await bytesOf('one')).equals(first)).toBe(true);
    expect((await bytesOf('two')).equals(first)).toBe(false);
  });

  it('reports its progress', async () => {
    const shares: number[] = [];
    const progress = (share: number) => shares.push(share);
    const content = await setup(small().system, options('bls12-381', { progress }));
    for await (const _ of keyBytes(content));
    expect(shares).toEqual([...shares].sort((x, y) => x - y));
    expect(shares.at(-1)).toBe(1);
  });

  it('refuses bellman parameters for a circuit with an unconstrained variable', async () => {
    const unconstrained = setup(small(1).system, options('bls12-381', { format: 'bellman' }));
    await expect(unconstrained).rejects.toMatchObject({ code: 'ERR_FORMAT' });
    await expect(unconstrained).rejects.toThrow('auxiliary variable was unconstrained');
  });

  it.each<[string, Partial<ConstraintSystemSource>, string]>([
    ['no constraints', { constraintCount: 0 }, 'expected constraints, got none'],
    ['fewer than it says', { constraintCount: 4 }, 'expected 4 constraints, got 3'],
    ['more than it says', { constraintCount: 2 }, 'expected 2 constraints, got more'],
    ['more than the field allows', { constraintCount: 2 ** 28 }, 'expected at most 2^27 rows'],
    ['a wire it does not have', { auxCount: 1 }, 'constraint: wire: expected below'],
  ])('refuses a system with %s', async (_, change, message) => {
    const system = { ...small().system, ...change };
    await expect(setup(system, options('bls12-381'))).rejects.toThrow(message);
  });

  it('keeps to the domain size of snarkjs and bellman at powers of two', async () => {
    const row = { a: [], b: [], c: [] };
    const logNOf = async (constraints: number): Promise<number> => {
      const rows = new Array(constraints).fill(row);
      return (await setup(systemOf('bn254', 2, 1, rows), options('bn254'))).logN;
    };
    expect(await Promise.all([1, 2, 3, 6, 7].map(logNOf))).toEqual([2, 2, 3, 3, 4]);
  });

  it('stops when it is aborted, before and while it writes', async () => {
    const controller = new AbortController();
    const { signal } = controller;
    const { system } = chain({ curve: 'bn254', constraints: 300, publicInputs: 1, first: 3n });
    const content = await setup(system, options('bn254', { signal }));
    const written = (async () => {
      for await (const _ of content.h.bytes) controller.abort();
    })();
    await expect(written).rejects.toMatchObject({ code: 'ERR_CANCELLED' });
    const again = setup(system, options('bn254', { signal }));
    await expect(again).rejects.toMatchObject({ code: 'ERR_CANCELLED' });
  });
});
