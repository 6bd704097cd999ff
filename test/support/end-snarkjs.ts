interface Threads {
  terminate(): Promise<void>;
}

/** Ends the worker threads that snarkjs keeps of each curve it has met, or the process would stay. */
export async function endSnarkjs(): Promise<void> {
  const { curve_bn128, curve_bls12381 } = globalThis as {
    curve_bn128?: Threads | null;
    curve_bls12381?: Threads | null;
  };
  await curve_bn128?.terminate();
  await curve_bls12381?.terminate();
}
