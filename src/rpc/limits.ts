/** Callers remembered; beyond it the one that has been quiet longest is forgotten. */
const CALLERS_MAX = 10_000;

interface Bucket {
  left: number;
  at: number;
}

/** A token bucket a caller: `perMinute` requests a minute, as many at once. */
export class RateLimit {
  readonly #perMinute: number;
  readonly #now: () => number;
  readonly #buckets = new Map<string, Bucket>();

  /** @param now milliseconds, of a clock that never goes back */
  constructor(perMinute: number, now: () => number = () => performance.now()) {
    this.#perMinute = perMinute;
    this.#now = now;
  }

  /** Takes one request. @returns 0, or the whole seconds after which the next one is let in */
  take(caller: string): number {
    const at = this.#now();
    const bucket = this.#buckets.get(caller) ?? { left: this.#perMinute, at };
    const refilled = bucket.left + ((at - bucket.at) / 60_000) * this.#perMinute;
    const left = Math.min(this.#perMinute, refilled);
    this.#buckets.delete(caller);
    this.#buckets.set(caller, { left: left < 1 ? left : left - 1, at });
    if (this.#buckets.size > CALLERS_MAX) {
      this.#buckets.delete(this.#buckets.keys().next().value as string);
    }
    return left < 1 ? Math.ceil(((1 - left) / this.#perMinute) * 60) : 0;
  }
}
