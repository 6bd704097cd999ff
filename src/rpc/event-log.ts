import type { EventStream, ProverEvent } from '../telemetry/events.ts';

export interface LoggedEvent {
  /** Ascending from 1. */
  readonly id: number;
  readonly event: ProverEvent;
}

/** The newest events under ascending ids, so that a client that lost its connection can resume. */
export class EventLog {
  readonly #size: number;
  readonly #listeners = new Set<(logged: LoggedEvent) => void>();
  #events: LoggedEvent[] = [];
  #nextId = 1;

  /** @param size events kept; between that many and twice as many are in memory */
  constructor(stream: EventStream, size: number) {
    this.#size = size;
    stream.subscribe((event) => {
      const logged = { id: this.#nextId++, event };
      this.#events.push(logged);
      if (this.#events.length >= 2 * size) this.#events = this.#events.slice(-size);
      for (const listener of this.#listeners) listener(logged);
    });
  }

  /** Events after `id` that are still kept, oldest first. */
  since(id: number): readonly LoggedEvent[] {
    return this.#events.slice(-this.#size).filter((logged) => logged.id > id);
  }

  /** @returns a function that ends the subscription */
  subscribe(listener: (logged: LoggedEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
