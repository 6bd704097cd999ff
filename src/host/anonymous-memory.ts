import { readFileSync } from 'node:fs';

const SAMPLE_MS = 10;

/** Peak of this process's anonymous memory (RssAnon: a mapped key does not count), from now on. */
export class AnonymousMemory {
  #peak = 0;
  readonly #timer = setInterval(() => this.#sample(), SAMPLE_MS);

  constructor() {
    this.#sample();
  }

  /** @returns bytes; 0 where the system does not tell */
  stop(): number {
    clearInterval(this.#timer);
    this.#sample();
    return this.#peak;
  }

  #sample(): void {
    this.#peak = Math.max(this.#peak, anonymousBytes());
  }
}

/** proc_pid_status(5). */
function anonymousBytes(): number {
  try {
    const status = readFileSync('/proc/self/status', 'utf8');
    return 1024 * Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0);
  } catch {
    return 0;
  }
}
