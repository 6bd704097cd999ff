import {
  type Metadata,
  ServerInterceptingCall,
  type ServerInterceptor,
  ServerListenerBuilder,
  type ServerUnaryCall,
} from '@grpc/grpc-js';
import { STATUS } from './wire.ts';

/** Methods whose requests may be large. */
const LARGE = /\/(SubmitProof|Prove)$/;
/** A message has this long to arrive in full once it may; a WinningPoSt may wait behind it. */
const RECEIVE_MS_MAX = 20_000;

/**
 * Lets so many large messages at a time into memory: the others wait on the wire, whose flow
 * control holds their senders back. So memory does not depend on how many calls there are. The call
 * that came last goes first: a WinningPoSt, which is small and has seconds, does not wait for all
 * sectors that were sent before.
 */
export class Intake {
  readonly #waiting = new Set<() => void>();
  readonly #leave = new WeakMap<Metadata, () => void>();
  #free: number;

  constructor(messagesMax: number) {
    this.#free = messagesMax;
  }

  readonly interceptor: ServerInterceptor = ({ path }, call) => {
    if (!LARGE.test(path)) return new ServerInterceptingCall(call);
    let leave = () => {};
    const listener = new ServerListenerBuilder()
      .withOnReceiveMetadata((metadata, next) => {
        leave = this.#enter(() => {
          const late = setTimeout(() => {
            const details = `message: expected it within ${RECEIVE_MS_MAX / 1000} s, got less`;
            call.sendStatus({ code: STATUS.deadlineExceeded, details, metadata: null });
          }, RECEIVE_MS_MAX);
          const done = leave;
          leave = () => {
            clearTimeout(late);
            done();
          };
          this.#leave.set(metadata, () => leave());
          next(metadata);
        });
      })
      .withOnCancel(() => leave())
      .build();
    return new ServerInterceptingCall(call, { start: (next) => next(listener) });
  };

  /** The message of the call has left memory. */
  left(call: Pick<ServerUnaryCall<unknown, unknown>, 'metadata'>): void {
    this.#leave.get(call.metadata)?.();
  }

  /** @returns what gives the place back, or up; only its first call counts */
  #enter(begin: () => void): () => void {
    let state: 'waiting' | 'in' | 'left' = 'waiting';
    const start = () => {
      state = 'in';
      this.#free--;
      begin();
    };
    const leave = () => {
      if (state === 'in') this.#free++;
      else this.#waiting.delete(start);
      state = 'left';
      this.#next();
    };
    this.#waiting.add(start);
    queueMicrotask(() => this.#next());
    return leave;
  }

  #next(): void {
    for (const start of [...this.#waiting].reverse()) {
      if (this.#free === 0) return;
      this.#waiting.delete(start);
      start();
    }
  }
}
