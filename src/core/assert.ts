/** A broken assertion is a bug of ours: it ends the task that met it, never the service. */
export class AssertionError extends Error {
  override readonly name = 'AssertionError';
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionError(message);
}

export function unreachable(value: never): never {
  throw new AssertionError(`unreachable: ${String(value)}`);
}
