/** A stream that people or programs read. `process.stdout` is one. */
export interface Terminal {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** The outside of a command, so that tests can be it. */
export interface Io {
  readonly stdout: Terminal;
  readonly stderr: Terminal;
  /** Aborted by SIGINT and SIGTERM; its reason is the name of the signal. */
  readonly interrupt: AbortSignal;
}

const COLUMNS_DEFAULT = 80;

/** A terminal that does not know its size says undefined or 0. */
export function columnsOf({ columns = 0 }: Terminal): number {
  return columns === 0 ? COLUMNS_DEFAULT : columns;
}

/** The one JSON document of a command. */
export function writeJson(io: Io, value: unknown): void {
  io.stdout.write(`${JSON.stringify(value, null, 2)}\n`);
}

/** Names and values in two columns. */
export function writeFields(io: Io, fields: readonly (readonly [string, string])[]): void {
  const width = Math.max(...fields.map(([name]) => name.length));
  io.stdout.write(fields.map(([name, value]) => `${name.padEnd(width)}  ${value}\n`).join(''));
}

/** Text from elsewhere (a path, an id, a message) cannot steer the terminal or begin a new line. */
export function plain(text: string): string {
  return text.replace(/\p{Cc}/gu, '?');
}

/** This process as the outside. A reader that goes away (`| head`) is no error of ours. */
export function processIo(): Io {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      // Whoever asks twice does not want to wait.
      if (controller.signal.aborted) process.exit(exitOfSignal(signal));
      controller.abort(signal);
    });
  }
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
  return { stdout: process.stdout, stderr: process.stderr, interrupt: controller.signal };
}

/** 128 and the signal's number, as shells have it. */
export function exitOfSignal(signal: unknown): number {
  return signal === 'SIGTERM' ? 143 : 130;
}
