import type { LoadOptions, ProverBackend } from '../../src/backend/backend.ts';

/** A backend whose devices keep keys where `residency` says, whatever they are asked for. */
export function withResidency(
  backend: ProverBackend,
  residency: LoadOptions['residency'],
): ProverBackend {
  return {
    ...backend,
    async open(id, options) {
      const device = await backend.open(id, options);
      return {
        info: device.info,
        estimate: (key, batch) => device.estimate(key, batch, residency),
        load: (key, loadOptions, run) => device.load(key, { ...loadOptions, residency }, run),
        [Symbol.asyncDispose]: () => device[Symbol.asyncDispose](),
      };
    },
  };
}
