/** The part of snarkjs that tests use as an oracle. */
declare module 'snarkjs' {
  export const groth16: {
    prove(
      zkeyPath: string,
      wtnsPath: string,
    ): Promise<{ readonly proof: unknown; readonly publicSignals: readonly string[] }>;
    verify(
      verificationKey: unknown,
      publicSignals: readonly string[],
      proof: unknown,
    ): Promise<boolean>;
  };
  export const zKey: {
    exportVerificationKey(key: {
      readonly type: 'mem';
      readonly data: Uint8Array;
    }): Promise<unknown>;
  };
}
