import type { Device, PartitionInput, ProverBackend, Run } from '../../src/backend/backend.ts';
import type { Blinding, Proof, ProvingKeySource } from '../../src/groth16/types.ts';

/** A run that nobody watches and nobody stops. */
export function quietRun(overrides: Partial<Run> = {}): Run {
  return { signal: new AbortController().signal, stage: () => {}, ...overrides };
}

/** The first device of a backend. The error of one that does not work here says why. */
export async function openFirst(backend: ProverBackend): Promise<Device> {
  const probe = await backend.probe();
  if (!probe.available) throw new Error(`${backend.name}: ${probe.reason}`);
  const [first] = probe.devices;
  if (first === undefined) throw new Error(`${backend.name}: expected a device, got none`);
  return backend.open(first.id, { threads: 2 });
}

/** One proof, from opening the device to closing it. */
export async function prove(
  backend: ProverBackend,
  key: ProvingKeySource,
  input: PartitionInput,
  blinding: Blinding,
  checkPoints = true,
): Promise<Proof> {
  const run = quietRun();
  await using device = await openFirst(backend);
  await using loaded = await device.load(key, { residency: 'mapped', checkPoints }, run);
  await using staged = await loaded.stage(input, run);
  await using computed = await loaded.compute(staged, blinding, run);
  return await loaded.finish(computed, run);
}
