declare module 'circom_runtime' {
  /** Compiles a circuit's witness generator (circom 1 or 2). */
  export function WitnessCalculatorBuilder(wasm: Uint8Array): Promise<{
    /** @returns the bytes of a `.wtns` file */
    calculateWTNSBin(input: object, sanityCheck: boolean): Promise<Uint8Array>;
  }>;
}
