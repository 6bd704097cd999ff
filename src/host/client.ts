import { type ChildProcess, fork } from 'node:child_process';
import { fromErrorRecord, ProverError } from '../core/errors.ts';
import { nowMicros } from '../core/units.ts';
import type {
  FromHost,
  HostEvent,
  HostOperations,
  KeyResidency,
  Operation,
  ToHost,
} from './protocol.ts';

/**
 * A host that has not let go of an aborted call by then is ended: the caller was promised one
 * second.
 */
const ABORT_GRACE_MS = 700;
/** A host that is silent for so long while it has work is hung, and ended. */
const SILENCE_MS_MAX = 30_000;

export interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: HostEvent) => void;
  readonly onProgress?: (share: number) => void;
}

interface PendingCall {
  readonly options: CallOptions;
  readonly operation: Operation;
  resolve(result: unknown): void;
  reject(error: ProverError): void;
}

/**
 * The server's side of one device host. The child is started by the first call and again by the
 * next call after it has ended, so a crash costs only the calls that were running in it.
 */
export class HostClient {
  /** What messages call it. */
  readonly device: string;
  readonly #entry: string;
  readonly #pending = new Map<number, PendingCall>();
  #child: ChildProcess | undefined;
  #nextId = 1;
  #starts = 0;
  #closed = false;
  /** The child that runs has said something. */
  #booted = false;
  #residents: readonly KeyResidency[] = [];
  #heardAt = 0;
  #watchdog: NodeJS.Timeout | undefined;
  readonly #silenceMsMax: number;

  /** @param entry the host's script, `dist/host.js` */
  constructor(device: string, entry: string, silenceMsMax = SILENCE_MS_MAX) {
    this.device = device;
    this.#entry = entry;
    this.#silenceMsMax = silenceMsMax;
  }

  get restarts(): number {
    return Math.max(0, this.#starts - 1);
  }

  /** Keys that the child has loaded. */
  get residents(): readonly KeyResidency[] {
    return this.#residents;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /** @throws ERR_HOST_CRASHED when the child ends first, ERR_CANCELLED once `signal` is aborted */
  call<Op extends Operation>(
    operation: Op,
    params: HostOperations[Op]['params'],
    options: CallOptions = {},
  ): Promise<HostOperations[Op]['result']> {
    if (this.#closed) return Promise.reject(new ProverError('ERR_SHUTTING_DOWN', {}));
    if (options.signal?.aborted) return Promise.reject(cancelled(operation));
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const end = this.#abortWith(id, options.signal);
      this.#pending.set(id, {
        options,
        operation,
        resolve: (result) => {
          end();
          resolve(result as HostOperations[Op]['result']);
        },
        reject: (error) => {
          end();
          reject(error);
        },
      });
      if (!this.#booted) this.#tell(options, 'HOST_BOOT_START');
      this.#send({ id, operation, params });
    });
  }

  /** Ends the child; calls still running in it reject. */
  async close(): Promise<void> {
    this.#closed = true;
    const child = this.#child;
    if (child === undefined) return;
    const ended = new Promise((resolve) => child.once('close', resolve));
    child.kill('SIGKILL');
    await ended;
  }

  #abortWith(id: number, signal: AbortSignal | undefined): () => void {
    if (signal === undefined) return () => {};
    let timer: NodeJS.Timeout | undefined;
    const abort = () => {
      this.#send({ abort: id });
      timer = setTimeout(() => this.#child?.kill('SIGKILL'), ABORT_GRACE_MS);
    };
    signal.addEventListener('abort', abort, { once: true });
    return () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    };
  }

  #send(message: ToHost): void {
    this.#child ??= this.#start();
    // A failed write means that the child is gone; its exit settles the call.
    this.#child.send(message, () => {});
  }

  #start(): ChildProcess {
    this.#starts++;
    this.#heardAt = performance.now();
    const child = fork(this.#entry, {
      serialization: 'advanced',
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    child.on('message', (message) => this.#receive(message as FromHost));
    this.#watchdog = setInterval(() => this.#endIfHung(child), this.#silenceMsMax / 4);
    this.#watchdog.unref();
    child.once('error', (cause) => this.#ended(child, cause.message));
    child.once('exit', (code, signal) =>
      this.#ended(child, signal === null ? `exit status ${code}` : `signal ${signal}`),
    );
    return child;
  }

  #endIfHung(child: ChildProcess): void {
    if (this.#pending.size === 0) this.#heardAt = performance.now();
    else if (performance.now() - this.#heardAt > this.#silenceMsMax) child.kill('SIGKILL');
  }

  #receive(message: FromHost): void {
    this.#heardAt = performance.now();
    if (!this.#booted) this.#noteBoot();
    if ('beat' in message) return;
    if ('residents' in message) {
      this.#residents = message.residents;
      return;
    }
    const call = this.#pending.get(message.id);
    if (call === undefined) return;
    if ('event' in message) {
      call.options.onEvent?.(message.event);
    } else if ('progress' in message) {
      call.options.onProgress?.(message.progress);
    } else {
      this.#pending.delete(message.id);
      if ('error' in message) call.reject(fromErrorRecord(message.error));
      else call.resolve(message.result);
    }
  }

  /** Every call that waits was made while the child was starting. */
  #noteBoot(): void {
    this.#booted = true;
    for (const { options } of this.#pending.values()) this.#tell(options, 'HOST_BOOT_END');
  }

  #tell({ onEvent }: CallOptions, event: HostEvent['event']): void {
    onEvent?.({ atMicros: nowMicros(), event, device: this.device });
  }

  #ended(child: ChildProcess, cause: string): void {
    if (this.#child !== child) return;
    this.#child = undefined;
    this.#booted = false;
    this.#residents = [];
    clearInterval(this.#watchdog);
    const calls = [...this.#pending.values()];
    this.#pending.clear();
    for (const call of calls) {
      const aborted = call.options.signal?.aborted === true;
      call.reject(
        aborted
          ? cancelled(call.operation)
          : new ProverError('ERR_HOST_CRASHED', { device: this.device, cause }),
      );
    }
  }
}

function cancelled(operation: Operation): ProverError {
  return new ProverError('ERR_CANCELLED', { jobId: operation });
}
