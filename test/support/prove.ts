import type { PartitionInput, ProverBackend, Run } from '../../src/backend/backend.ts';
import type { Blinding, Proof, ProvingKeySource } from '../../src/groth16/types.ts';

/** A run that nobody watches and nobody stops. */
export function quietRun(overrides: Partial<Run> = {}): Run {
  return { signal: new AbortController().signal, stage: () => {}, ...overrides };
}

/** One proof on the first device of a backend, from opening it to closing it. */
export async function prove(
  backend: ProverBackend,
  key: ProvingKeySource,
  input: PartitionInput,
  blinding: Blinding,
  run: Run = quietRun(),
): Promise<Proof> {
  const probe = await backend.probe();
  if (!probe.available) throw new Error(`${backend.name}: ${probe.reason}`);
  const [first] = probe.devices;
  if (first === undefined) throw new Error(`${backend.name}: no device`);
  await using device = await backend.open(first.id, { threads: 2 });
  await using loaded = await device.load(key, { residency: 'mapped', checkPoints: true }, run);
  await using staged = await loaded.stage(input, run);
  await using computed = await loaded.compute(staged, blinding, run);
  return await loaded.finish(computed, run);
}
