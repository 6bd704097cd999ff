import type { EventStream, ProverEvent } from '../telemetry/events.ts';
import { wireEvent } from '../telemetry/wire-names.ts';

export interface LoggedEvent {
  readonly id: number;
  readonly event: ProverEvent;
  /** As a server-sent event. */
  readonly text: string;
}

/**
 * The newest events under ascending ids without gaps, so that a client that lost its connection can
 * resume. The ids begin with the time, in milliseconds: those of an earlier process are smaller.
 */
export class EventLog {
  readonly #size: number;
  readonly #listeners = new Set<() => void>();
  #events: LoggedEvent[] = [];
  #nextId = Date.now();

  /** @param size events kept; between that many and twice as many are in memory */
  constructor(stream: EventStream, size: number) {
    this.#size = size;
    stream.subscribe((event) => {
      const id = this.#nextId++;
      const data = JSON.stringify(wireEvent(event));
      const text = `event: ${event.event}\ndata: ${data}\nid: ${id}\n\n`;
      this.#events.push({ id, event, text });
      if (this.#events.length >= 2 * size) this.#events = this.#events.slice(-size);
      for (const listener of this.#listeners) listener();
    });
  }

  /** The id that the events after `id` follow: `id` itself, where all of those are kept. */
  resume(id: number): number {
    const firstKept = this.#nextId - Math.min(this.#size, this.#events.length);
    return Math.min(Math.max(id, firstKept - 1), this.#nextId - 1);
  }

  /** The events after `id`, oldest first; undefined where not all of them are kept. */
  after(id: number, limit: number): readonly LoggedEvent[] | undefined {
    const from = id + 1 - (this.#nextId - this.#events.length);
    return from < 0 ? undefined : this.#events.slice(from, from + limit);
  }

  /** @param listener called after each event @returns a function that ends the subscription */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
