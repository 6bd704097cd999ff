import { ProverError } from '../core/errors.ts';
import { systemReason } from '../core/source.ts';

/**
 * Runs work on the store's own folder.
 * @throws ERR_STORAGE for what the system refuses, ERR_CANCELLED once the signal is aborted
 */
export async function storing<T>(
  action: 'read' | 'write',
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    if (signal?.aborted === true) throw new ProverError('ERR_CANCELLED', { jobId: 'keys' }, thrown);
    const { syscall, code, message } = thrown as NodeJS.ErrnoException;
    const ofLock = code?.startsWith('SQLITE_') === true;
    if (syscall === undefined && !ofLock) throw thrown;
    const reason = ofLock ? message : systemReason(thrown);
    throw new ProverError('ERR_STORAGE', { subject: 'keys', action, reason }, thrown);
  }
}
