import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { writeWtns } from '../../../src/formats/wtns.ts';
import { drawToxicWaste } from '../../../src/groth16/toxic-waste.ts';
import type { ProvingKeySource } from '../../../src/groth16/types.ts';
import type { WitnessSource } from '../../../src/host/protocol.ts';
import { openWitness } from '../../../src/host/witness.ts';
import { type CurveName, curveOf } from '../../../src/math/curve.ts';
import { developmentKey, temporaryPath } from '../../support/key-files.ts';
import { chain, scalarBytes } from '../../support/system.ts';

const { system, values } = chain({ curve: 'bn254', constraints: 5, publicInputs: 2, first: 3n });
const { r } = curveOf('bn254');
let key: ProvingKeySource;
beforeAll(async () => {
  key = await developmentKey(system, 'zkey', drawToxicWaste('bn254'));
});

const { signal } = new AbortController();
async function fileOf(wires: readonly bigint[], curve: CurveName = 'bn254'): Promise<string> {
  const path = await temporaryPath('witness.wtns');
  await writeFile(path, writeWtns(curve, { count: wires.length, bytes: [scalarBytes(wires)] }));
  return path;
}
const open = (source: WitnessSource) => openWitness(source, key, signal);
const refusal = (message: string) => ({
  code: 'ERR_FORMAT',
  message: expect.stringContaining(message),
});

it('takes a witness of the key, with its public inputs', async () => {
  await using witness = await open({ path: await fileOf(values) });
  expect(witness.wires).toBe(values.length);
  expect(witness.publicInputs.map((bytes) => BigInt(bytes[0] as number))).toEqual(
    values.slice(1, 3).map((value) => value % 256n),
  );
});

describe('refuses', () => {
  it.each([1, 3, values.length - 1])('value %i that is not below the modulus', async (wire) => {
    const same = values.with(wire, (values[wire] as bigint) + r);
    await expect(open({ path: await fileOf(same) })).rejects.toMatchObject(
      refusal(`value ${wire}: expected a number below the modulus`),
    );
  });

  it('another number of values', async () => {
    const more = await fileOf([...values, 0n]);
    await expect(open({ path: more })).rejects.toMatchObject(
      refusal(`expected ${values.length} values (the wires of the key), got ${values.length + 1}`),
    );
  });

  it('the values of another field', async () => {
    const other = await fileOf(values, 'bls12-381');
    await expect(open({ path: other })).rejects.toMatchObject(refusal('expected that of bn254'));
  });

  it('a stored payload, named by what it is and not by its digest', async () => {
    const path = await fileOf(values, 'bls12-381');
    const sha256 = createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
    await expect(open({ path, sha256 })).rejects.toThrow(/^witness: field: /);
  });

  it('bytes that are not those that were stored', async () => {
    const path = await fileOf(values);
    const sha256 = createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
    await using witness = await open({ path, sha256 });
    expect(witness.wires).toBe(values.length);
    await writeFile(path, await readFile(await fileOf(values.with(-1, 9n))));
    await expect(open({ path, sha256 })).rejects.toMatchObject({ code: 'ERR_PAYLOAD_CORRUPT' });
  });
});

describe('an input for a circuit', () => {
  const wasmPath = 'examples/preimage/preimage.wasm';
  const withInput = async (text: string) => {
    const inputPath = await temporaryPath('input.json');
    await writeFile(inputPath, text);
    return open({ wasmPath, inputPath });
  };

  it.each([
    ['[1]', 'a JSON object of input signals'],
    ['null', 'a JSON object of input signals'],
    ['{', 'expected JSON'],
    ['{"x": 1.5, "salt": "1"}', 'expected integers'],
    ['{"x": 9007199254740993, "salt": "1"}', 'expected integers'],
    ['{"x": "0y1", "salt": "1"}', 'expected integers'],
    ['{"x": [["1", null]], "salt": "1"}', 'expected integers'],
    ['{"x": {"a": 1}, "salt": "1"}', 'expected integers'],
  ])('%s: %s', async (text, message) => {
    await expect(withInput(text)).rejects.toMatchObject(refusal(message));
  });

  it('that lacks a signal is refused without its values', async () => {
    const failing = withInput('{"x": "123456789123456789"}');
    await expect(failing).rejects.toMatchObject({
      code: 'ERR_WITNESS_CALCULATION',
      message: 'witness calculation: Not all inputs have been set. Only 1 out of 2',
    });
  });

  it('of another circuit does not fit the key', async () => {
    const fits = withInput('{"x": "1", "salt": "2"}');
    await expect(fits).rejects.toMatchObject(refusal('the wires of the key'));
  });
});
