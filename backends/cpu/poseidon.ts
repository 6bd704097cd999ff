import { concatBytes, writeBigIntLE } from '../../src/core/bytes.ts';
import { merkleTag, type Poseidon, poseidonConstants } from '../../src/math/poseidon.ts';
import { type CpuAddon, loadAddon, type PoseidonHandle } from './addon.ts';

/** Poseidon by native code; undefined where it is not built. */
export function nativePoseidon(): Poseidon | undefined {
  const loaded = loadAddon();
  if (!('addon' in loaded)) return undefined;
  const { addon } = loaded;
  const opened = new Map<number, PoseidonHandle>();
  return (preimage, tag = merkleTag(preimage.length)) => {
    const arity = preimage.length;
    const handle = opened.get(arity) ?? open(addon, arity);
    opened.set(arity, handle);
    return addon.poseidon(handle, [tag, ...preimage]);
  };
}

function open(addon: CpuAddon, arity: number): PoseidonHandle {
  const { width, roundKeys, mds, preSparse, sparse } = poseidonConstants(arity);
  const lines = sparse.flatMap(({ column, row }) => [column, row]);
  const [keys, ...matrices] = [[roundKeys], mds, preSparse, lines].map((rows) =>
    concatBytes(...rows.flat().map((element) => writeBigIntLE(element, 32))),
  ) as [Uint8Array, Uint8Array, Uint8Array, Uint8Array];
  return addon.openPoseidon(width, keys, ...(matrices as [Uint8Array, Uint8Array, Uint8Array]));
}
