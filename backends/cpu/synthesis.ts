import { settled } from '../common/napi/native-call.ts';
import { loadAddon, type Synthesis } from './addon.ts';

/**
 * The values that a circuit's private inputs come to, 32 bytes each, canonical little-endian.
 * Rejects with ERR_FORMAT for a damaged program or wrong private inputs, and ERR_CANCELLED.
 */
export type Synthesize = (
  program: Uint8Array,
  privateInputs: Uint8Array,
  wanted: { readonly c: boolean; readonly signal: AbortSignal },
) => Promise<Synthesis>;

/** By native code on `threads` threads; undefined where it is not built. */
export function nativeSynthesis(threads: number): Synthesize | undefined {
  const loaded = loadAddon();
  if (!('addon' in loaded)) return undefined;
  const { addon } = loaded;
  return async (program, privateInputs, { c, signal }) => {
    const pool = addon.openPool(threads);
    try {
      return await settled({ signal, stage: () => {} }, (listener) =>
        addon.synthesize(pool, program, privateInputs, c, listener),
      );
    } finally {
      addon.release(pool);
    }
  };
}
