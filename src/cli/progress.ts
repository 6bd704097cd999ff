import type { ProverEvent, Stage } from '../telemetry/events.ts';
import { edgeOf } from '../telemetry/stage-pairs.ts';
import { columnsOf, type Io } from './io.ts';
import type { CallHooks } from './wiring.ts';

/** Work that ends sooner shows nothing. */
const QUIET_MS = 2_000;
const FRAME_MS = 250;
const SPINNER = ['|', '/', '-', '\\'];
const CLEAR_LINE = '\r\x1b[K';

/** Runs a long call; on a terminal it says, after two seconds, how far the call is. */
export async function withProgress<T>(
  io: Io,
  what: string,
  work: (hooks: CallHooks) => Promise<T>,
): Promise<T> {
  using progress = new Progress(io, what);
  return await work(progress);
}

/** One line on a terminal's standard error that says what a long call does; cleared on disposal. */
class Progress implements Disposable, CallHooks {
  readonly signal: AbortSignal;
  readonly #io: Io;
  readonly #what: string;
  readonly #begin = performance.now();
  #share = 0;
  #stage: Stage | undefined;
  #frame = 0;
  #timer: NodeJS.Timeout | undefined;

  /** @param what the call does, until stages of its own say more */
  constructor(io: Io, what: string) {
    this.signal = io.interrupt;
    this.#io = io;
    this.#what = what;
    if (io.stderr.isTTY !== true) return;
    this.#timer = setTimeout(() => {
      this.#draw();
      this.#timer = setInterval(() => this.#draw(), FRAME_MS);
    }, QUIET_MS);
  }

  readonly onProgress = (share: number): void => {
    this.#share = share;
  };

  readonly onEvent = (event: ProverEvent): void => {
    const edge = edgeOf(event);
    if (edge?.edge === 'start' && edge.stage !== 'JOB') this.#stage = edge.stage;
  };

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    if (this.#frame > 0) this.#io.stderr.write(CLEAR_LINE);
    this.#frame = 0;
  }

  #draw(): void {
    const spin = SPINNER[this.#frame++ % SPINNER.length];
    const percent = `${Math.floor(this.#share * 100)}`.padStart(3);
    const seconds = Math.floor((performance.now() - this.#begin) / 1000);
    const stage = this.#stage === undefined ? '' : `  ${this.#stage}`;
    const line = `${spin} ${this.#what}${stage}  ${percent} %  ${seconds} s`;
    this.#io.stderr.write(CLEAR_LINE + line.slice(0, columnsOf(this.#io.stderr) - 1));
  }
}
