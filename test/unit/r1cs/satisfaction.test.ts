import { describe, expect, it } from 'vitest';
import { fromBytes } from '../../../src/core/source.ts';
import { curveOf } from '../../../src/math/curve.ts';
import { firstUnsatisfied } from '../../../src/r1cs/satisfaction.ts';
import { WitnessValues } from '../../../src/r1cs/witness-values.ts';
import { chain, scalarBytes, systemOf, tiny, witnessOf } from '../../support/system.ts';

const { signal } = new AbortController();

describe('firstUnsatisfied', () => {
  it('finds nothing where every row holds', async () => {
    const { system, values } = tiny();
    expect(await firstUnsatisfied(system, witnessOf(values), signal)).toBeUndefined();
  });

  it('notices each wire of the tiny circuit when it changes', async () => {
    const { system, values } = tiny();
    const { r } = curveOf(system.curve);
    for (let wire = 0; wire < values.length; wire++) {
      const changed = values.with(wire, ((values[wire] as bigint) + 1n) % r);
      expect(await firstUnsatisfied(system, witnessOf(changed), signal)).toBeTypeOf('number');
    }
  });

  it('names the first of several rows that do not hold', async () => {
    const example = chain({ curve: 'bn254', constraints: 9, publicInputs: 1, first: 5n });
    const changed = example.values.with(7, 0n).with(10, 0n);
    expect(await firstUnsatisfied(example.system, witnessOf(changed), signal)).toBe(5);
  });

  it('reads a witness of several pages, each of them once', async () => {
    const count = 70_000;
    const values = Array.from({ length: count }, (_, i) => BigInt(i));
    const source = fromBytes('witness', scalarBytes([99n, ...values]));
    let reads = 0;
    const read = (offset: number, length: number) => {
      reads++;
      return source.read(offset, length);
    };
    const rows = [1, 32_767, 32_768, 65_536, count - 1].map((wire) => ({
      a: [{ wire, coefficient: 1n }],
      b: [{ wire: 1, coefficient: 1n }],
      c: [{ wire: 1, coefficient: BigInt(wire) }],
    }));
    const witness = new WitnessValues({ ...source, read }, 32, count);
    const system = systemOf('bn254', 1, count - 1, rows);
    expect(await firstUnsatisfied(system, witness, signal)).toBeUndefined();
    expect(reads).toBe(3);
    expect(() => witness.at(count)).toThrow(`expected below ${count}, got ${count}`);
  });

  it('stops when it is aborted', async () => {
    const controller = new AbortController();
    const rows = tiny().system;
    const endless = {
      ...rows,
      async *constraints() {
        for (;;) yield { a: [], b: [], c: [] };
      },
    };
    const done = firstUnsatisfied(endless, witnessOf([1n]), controller.signal);
    controller.abort();
    await expect(done).rejects.toMatchObject({ code: 'ERR_CANCELLED' });
  });
});
