import { afterEach, describe, expect, it, type TestContext } from 'vitest';
import { settled } from '../../backends/common/napi/native-call.ts';
import { type CudaAddon, type DeviceHandle, loadAddon } from '../../backends/cuda/addon.ts';
import { cudaBackend } from '../../backends/cuda/backend.ts';
import type { AssignedInput, LoadOptions } from '../../src/backend/backend.ts';
import { writeBigIntLE } from '../../src/core/bytes.ts';
import { toxicWasteFromSeed } from '../../src/groth16/toxic-waste.ts';
import type { Blinding, PointQuery, ProvingKeySource } from '../../src/groth16/types.ts';
import { verify } from '../../src/groth16/verify.ts';
import type { FrCanonicalLE } from '../../src/math/curve.ts';
import { evaluated } from '../support/evaluated.ts';
import { developmentKey } from '../support/key-files.ts';
import { openFirst, quietRun } from '../support/prove.ts';
import { chain, type Example, publicInputsOf, scalarBytes } from '../support/system.ts';

const GIB = 2 ** 30;
const RESIDENCIES = ['device', 'pinned', 'mapped'] as const;
type Residency = LoadOptions['residency'];

const probe = await cudaBackend.probe();

/** The addon, or a skip that says why it cannot be used. */
function addonOf(context: TestContext): CudaAddon {
  const loaded = loadAddon();
  if (!probe.available) context.skip(`cuda: ${probe.reason}`);
  if ('reason' in loaded) throw new Error(loaded.reason);
  return loaded.addon;
}

const one = writeBigIntLE(1n, 32) as FrCanonicalLE;
const BLINDING: Blinding = { r: one, s: one };

interface Prepared {
  readonly example: Example;
  readonly key: ProvingKeySource;
  readonly input: AssignedInput;
}

const made = new Map<string, Promise<Prepared>>();

function prepared(format: 'zkey' | 'bellman', constraints: number): Promise<Prepared> {
  const name = `${format} ${constraints}`;
  const content = made.get(name) ?? prepare(format, constraints);
  made.set(name, content);
  return content;
}

async function prepare(format: 'zkey' | 'bellman', constraints: number): Promise<Prepared> {
  const curve = 'bls12-381';
  const example = chain({ curve, constraints, publicInputs: 2, first: 3n });
  const key = await developmentKey(example.system, format, toxicWasteFromSeed(curve, 'device'));
  const { values } = example;
  const witness = { n: values.length, bytes: scalarBytes(values) };
  const input: AssignedInput =
    format === 'zkey' ? { kind: 'witness', witness } : await evaluated(example);
  return { example, key, input };
}

/** Load, stage, compute and finish; whether the proof verifies. */
async function provesOn(residency: Residency, { example, key, input }: Prepared): Promise<boolean> {
  const run = quietRun();
  await using device = await openFirst(cudaBackend);
  await using loaded = await device.load(key, { residency, checkPoints: false }, run);
  await using staged = await loaded.stage(input, run);
  await using computed = await loaded.compute(staged, BLINDING, run);
  const proof = await loaded.finish(computed, run);
  return (await verify(key.verifyingKey, publicInputsOf(example), proof)).valid;
}

function opened(addon: CudaAddon, memoryBytes: number): Promise<DeviceHandle> {
  return settled(quietRun(), (listener) => addon.openDevice(0, memoryBytes, 2, listener));
}

describe('the estimate equals what is allocated', () => {
  for (const residency of RESIDENCIES) {
    for (const format of ['zkey', 'bellman'] as const) {
      it(`${format}, key ${residency}`, async (context) => {
        const addon = addonOf(context);
        const { key, input } = await prepared(format, 1000);
        const device = await opened(addon, GIB);
        const loaded = await settled(quietRun(), (l) =>
          addon.load(device, key, residency, false, l),
        );
        const staged = await settled(quietRun(), (l) => addon.stage(loaded, input, l));
        const used = addon.usedBytes(device);
        const { deviceBytes } = addon.estimate(device, key, residency, 1);
        for (const handle of [staged, loaded]) addon.release(handle);
        expect(addon.usedBytes(device)).toBe(0);
        addon.release(device);
        expect(Math.abs(deviceBytes - used) / used).toBeLessThan(0.02);
      });
    }
  }
});

/** A 32 GiB PoRep's parameters by their sizes; there are no such files. */
function porepKey(key: ProvingKeySource): ProvingKeySource {
  const path = '/nonexistent/porep.params';
  let offset = 0;
  const query = (count: number, size: number): PointQuery => {
    const slice = { path, offset, length: count * size };
    offset += slice.length;
    return { slice, count };
  };
  return {
    ...key,
    ...{ inputCount: 328, auxCount: 130_169_893, logN: 27 },
    ...{ h: query(2 ** 27 - 1, 96), l: query(130_169_893, 96), a: query(129_753_596, 96) },
    ...{ bG1: query(33_105_525, 96), bG2: query(33_105_525, 192) },
  };
}

describe('a budget of device memory', () => {
  for (const gigabytes of [16, 24]) {
    it(`of ${gigabytes} GB: a 32 GiB PoRep's key streams if 2^27 rows fit, else it is refused`, async (context) => {
      const addon = addonOf(context);
      const { key } = await prepared('bellman', 7);
      const porep = porepKey(key);
      const budget = gigabytes * 1e9;
      const device = await opened(addon, budget);
      expect(addon.estimate(device, porep, 'device', 1).deviceBytes).toBeGreaterThan(budget);
      const streamed = addon.estimate(device, porep, 'mapped', 0).deviceBytes;
      // The quotient alone takes three vectors of 2^27 elements, and its factors half of one.
      if (gigabytes === 24) expect(streamed).toBeLessThan(budget);
      else expect(streamed).toBeGreaterThan(budget);
      const loading = settled(quietRun(), (l) => addon.load(device, porep, 'device', false, l));
      await expect(loading).rejects.toMatchObject({ code: 'ERR_DEVICE_OUT_OF_MEMORY' });
      expect(addon.usedBytes(device)).toBe(0);
      addon.release(device);
    });
  }

  it('a partition that does not fit beside the others is refused, and fits once they are gone', async (context) => {
    const addon = addonOf(context);
    const { key, input } = await prepared('bellman', 1000);
    const whole = await opened(addon, GIB);
    const batch = (n: number) => addon.estimate(whole, key, 'device', n).deviceBytes;
    const device = await opened(addon, batch(2));
    addon.release(whole);
    const loaded = await settled(quietRun(), (l) => addon.load(device, key, 'device', false, l));
    const stage = () => settled(quietRun(), (l) => addon.stage(loaded, input, l));
    const staged = [await stage()];
    for (let refused = false; !refused && staged.length < 50; ) {
      try {
        staged.push(await stage());
      } catch (thrown) {
        expect(thrown).toMatchObject({ code: 'ERR_DEVICE_OUT_OF_MEMORY' });
        refused = true;
      }
    }
    expect(staged.length).toBeGreaterThanOrEqual(2);
    expect(addon.usedBytes(device)).toBeLessThanOrEqual(addon.budgetBytes(device));
    addon.release(staged.pop() as (typeof staged)[number]);
    staged.push(await stage());
    for (const handle of [...staged, loaded, device]) addon.release(handle);
  });
});

describe('faults', () => {
  afterEach(() => {
    const loaded = loadAddon();
    if ('reason' in loaded) return;
    for (const site of ['allocation', 'registration', 'launch', 'loss'] as const) {
      loaded.addon.plantFault(site, 0);
    }
  });

  /** Plants a fault at the first, second, ... call of its kind until a proof gets through. */
  async function everySite(
    addon: CudaAddon,
    site: 'allocation' | 'registration' | 'launch' | 'loss',
    code: string,
    residency: Residency,
  ): Promise<number> {
    const example = await prepared('zkey', 30);
    for (let call = 1; call < 2000; call = call < 16 ? call + 1 : Math.ceil(call * 1.3)) {
      addon.plantFault(site, call);
      try {
        expect(await provesOn(residency, example)).toBe(true);
        addon.plantFault(site, 0);
        return call;
      } catch (thrown) {
        expect(thrown, `${site} ${call}`).toMatchObject({ code });
      }
      addon.plantFault(site, 0);
      expect(await provesOn(residency, example), `after ${site} ${call}`).toBe(true);
    }
    return Number.POSITIVE_INFINITY;
  }

  it('each allocation fails once', async (context) => {
    const calls = await everySite(
      addonOf(context),
      'allocation',
      'ERR_DEVICE_OUT_OF_MEMORY',
      'device',
    );
    expect(calls).toBeGreaterThan(2);
  });

  it('each registration of host memory fails once', async (context) => {
    const calls = await everySite(
      addonOf(context),
      'registration',
      'ERR_DEVICE_OUT_OF_MEMORY',
      'pinned',
    );
    expect(calls).toBeGreaterThan(2);
  });

  it('launches fail', async (context) => {
    const calls = await everySite(addonOf(context), 'launch', 'ERR_INTERNAL', 'mapped');
    expect(calls).toBeGreaterThan(2);
  });

  it('the device is lost', async (context) => {
    const calls = await everySite(addonOf(context), 'loss', 'ERR_HOST_CRASHED', 'device');
    expect(calls).toBeGreaterThan(10);
  });
});
