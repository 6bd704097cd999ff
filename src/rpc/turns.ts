/**
 * Lets a crowd at the same work pass a few at a time: between them, this process does what else it
 * has to do. Streams alone do not, as they go on in microtasks.
 */
export class Turns {
  readonly #atOnce: number;
  #waiting: (() => void)[] = [];

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  take(): Promise<void> {
    return new Promise((go) => {
      this.#waiting.push(go);
      if (this.#waiting.length === 1) setImmediate(() => this.#pass());
    });
  }

  #pass(): void {
    const now = this.#waiting.slice(0, this.#atOnce);
    this.#waiting = this.#waiting.slice(this.#atOnce);
    if (this.#waiting.length > 0) setImmediate(() => this.#pass());
    for (const go of now) go();
  }
}
