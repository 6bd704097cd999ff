import { nativePoseidon } from '../../backends/cpu/poseidon.ts';
import { type Micros, nowMicros } from '../core/units.ts';
import { Partition } from './partition.ts';
import type { PartitionSource } from './protocol.ts';

/** A partition that was begun to be read before it was asked for. */
export interface PartitionAhead {
  readonly startedAt: Micros;
  readonly endedAt: () => Micros;
  /** @throws as Partition.read */
  get(signal: AbortSignal): Promise<Partition>;
}

/** Reads partitions, one of them while another is proved: the main thread is free then. */
export class PartitionReader {
  #ahead: (PartitionAhead & { readonly name: string; stop(): void }) | undefined;
  readonly #poseidon = nativePoseidon();
  /** Digests of the files that were read last, every partition in them. */
  #filesRead: string | undefined;

  /** @throws as Partition.read */
  async read(source: PartitionSource, signal: AbortSignal): Promise<Partition> {
    const files = digestsOf(source);
    const othersChecked = files !== undefined && files === this.#filesRead;
    const options = { othersChecked, poseidon: this.#poseidon };
    const partition = await Partition.read(source, signal, options);
    this.#filesRead = files;
    return partition;
  }

  readAhead(source: PartitionSource): void {
    const abort = new AbortController();
    const startedAt = nowMicros();
    let endedAt: Micros | undefined;
    const read = this.read(source, abort.signal).finally(() => {
      endedAt = nowMicros();
    });
    // Whoever asks for the partition hears it.
    read.catch(() => {});
    const stop = (reason?: unknown) => abort.abort(reason);
    this.#ahead = {
      name: nameOf(source),
      startedAt,
      endedAt: () => endedAt ?? nowMicros(),
      stop,
      async get(signal) {
        const pass = () => stop(signal.reason);
        signal.addEventListener('abort', pass, { once: true });
        if (signal.aborted) pass();
        return await read.finally(() => signal.removeEventListener('abort', pass));
      },
    };
  }

  /** @returns undefined where another partition was read, or none */
  take(source: PartitionSource): PartitionAhead | undefined {
    const ahead = this.#ahead;
    this.#ahead = undefined;
    if (ahead?.name === nameOf(source)) return ahead;
    ahead?.stop();
    return undefined;
  }

  drop(): void {
    this.#ahead?.stop();
    this.#ahead = undefined;
  }
}

function nameOf(source: PartitionSource): string {
  return JSON.stringify(source);
}

/** undefined: files of a folder that is not ours, which may change. */
function digestsOf({ vanilla }: PartitionSource): string | undefined {
  const digests = vanilla.map(({ sha256 }) => sha256);
  return digests.includes(undefined) ? undefined : digests.join();
}
