/** Payloads by their SHA-256, on disk. Interface first: the store itself is below it. */
export interface PayloadInfo {
  readonly sha256: string;
  readonly bytes: number;
}

export interface PayloadStore {
  /** Streams to disk; nothing is kept of a body that fails or exceeds `limitBytes`. @throws ERR_TOO_LARGE */
  put(body: AsyncIterable<Uint8Array>, limitBytes: number): Promise<PayloadInfo>;
  has(sha256: string): boolean;
}
