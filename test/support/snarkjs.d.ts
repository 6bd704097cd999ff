/** The part of snarkjs that tests use as an oracle. */
declare module 'snarkjs' {
  type InMemory = { readonly type: 'mem'; readonly data: Uint8Array };
  export const zKey: {
    exportVerificationKey(key: InMemory | string): Promise<unknown>;
  };
}
