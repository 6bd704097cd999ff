import type { PayloadStore } from '../../jobs/payloads.ts';
import { type C1Head, C1HeadScanner } from '../c1-head.ts';
import type { GoBytes } from './go-values.ts';

/** Bytes of a request that are on disk. */
export interface StoredBytes {
  readonly sha256: string;
  readonly bytes: number;
  /** What they say as the output of PoRep's first phase. @throws ERR_FORMAT */
  c1(): C1Head;
}

/** Streams to the payload store. @throws ERR_TOO_LARGE, ERR_STORAGE */
export async function storeBytes(
  payloads: PayloadStore,
  bytes: AsyncIterable<Uint8Array>,
  limitBytes: number,
): Promise<StoredBytes> {
  const scanner = new C1HeadScanner();
  async function* scanned(): AsyncGenerator<Uint8Array> {
    for await (const chunk of bytes) {
      scanner.push(chunk);
      yield chunk;
    }
  }
  const info = await payloads.put(scanned(), limitBytes);
  return { ...info, c1: () => scanner.end() };
}

/** What a caller may not have stored is read to its end all the same. */
export async function discardBytes(bytes: AsyncIterable<Uint8Array>): Promise<StoredBytes> {
  let length = 0;
  for await (const chunk of bytes) length += chunk.length;
  return { sha256: '', bytes: length, c1: () => new C1HeadScanner().end() };
}

/** Bytes of a request, on disk by the end. */
export async function stored(payloads: PayloadStore, value: GoBytes): Promise<StoredBytes> {
  if ('stored' in value) return value.stored;
  const { bytes } = value;
  return await storeBytes(payloads, chunksOf(bytes), bytes.length);
}

async function* chunksOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
