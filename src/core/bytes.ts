import { formatError } from './errors.ts';

export function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('hex');
}

export function fromHex(subject: string, hex: string): Uint8Array {
  if (hex.length % 2 !== 0 || !/^[0-9a-f]*$/i.test(hex)) {
    throw formatError(subject, 'an even number of hex digits', 'other characters');
  }
  return new Uint8Array(Buffer.from(hex, 'hex'));
}

/** Unsigned integer of any length, least significant byte first. */
export function readBigIntLE(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).reverse().toString('hex') || '0'}`);
}

/** Unsigned integer of any length, most significant byte first. */
export function readBigIntBE(bytes: Uint8Array): bigint {
  return BigInt(`0x${toHex(bytes) || '0'}`);
}

export function writeBigIntBE(value: bigint, length: number): Uint8Array {
  return new Uint8Array(Buffer.from(value.toString(16).padStart(length * 2, '0'), 'hex'));
}

export function writeBigIntLE(value: bigint, length: number): Uint8Array {
  return writeBigIntBE(value, length).reverse();
}

export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

export function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
