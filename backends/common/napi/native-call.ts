import type { BackendStage, Run } from '../../../src/backend/backend.ts';
import { ERRORS, type ErrorCode, type ErrorData, ProverError } from '../../../src/core/errors.ts';
import { type Micros, nowMicros } from '../../../src/core/units.ts';
import type { Listener, NativeCall } from './native.ts';

/** Runs a native call as `run` wants it: its abort, its reports, its errors. */
export async function settled<T>(
  run: Run,
  start: (listener: Listener) => NativeCall<T>,
): Promise<T> {
  if (run.signal.aborted) throw new ProverError('ERR_CANCELLED', { jobId: 'prove' });
  const startMicros = nowMicros();
  let failure: unknown;
  const call = start((what, begin, end) => {
    try {
      if (typeof what === 'number') run.progress?.(what);
      else {
        const at = (offset: number) => (startMicros + offset) as Micros;
        run.stage(what as BackendStage, at(begin), at(end));
      }
    } catch (thrown) {
      failure ??= thrown;
      call.abort();
    }
  });
  const abort = (): void => call.abort();
  run.signal.addEventListener('abort', abort, { once: true });
  try {
    return await call.done;
  } catch (thrown) {
    throw failure ?? fromNative(thrown);
  } finally {
    run.signal.removeEventListener('abort', abort);
  }
}

function fromNative(thrown: unknown): unknown {
  const { code, data } = thrown as { code?: string; data?: ErrorData<ErrorCode> };
  if (code === undefined || data === undefined || !Object.hasOwn(ERRORS, code)) return thrown;
  return new ProverError(code as ErrorCode, data, thrown);
}
