import { concatBytes, writeBigIntLE } from '../../src/core/bytes.ts';
import type { SetupScalars, SetupScalarsOf } from '../../src/groth16/setup-scalars.ts';
import { settled } from '../common/napi/native-call.ts';
import { loadAddon } from './addon.ts';

/**
 * Logarithms of the points of a circuit's parameters, by native code on `threads` threads;
 * undefined where it is not built.
 * @param program encoded (docs/program-format.md)
 */
export function nativeSetupScalars(
  program: Uint8Array,
  threads: number,
): SetupScalarsOf | undefined {
  const loaded = loadAddon();
  if (!('addon' in loaded)) return undefined;
  const { addon } = loaded;
  return ({ waste, signal, progress }): Promise<SetupScalars> => {
    const { alpha, beta, gamma, delta, tau } = waste;
    const secrets = concatBytes(
      ...[alpha, beta, gamma, delta, tau].map((secret) => writeBigIntLE(secret, 32)),
    );
    const pool = addon.openPool(threads);
    return settled({ signal, stage: () => {}, progress }, (listener) =>
      addon.setupScalars(pool, program, secrets, listener),
    );
  };
}
