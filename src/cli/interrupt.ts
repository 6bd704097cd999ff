/** A command that has not let go this long after an interrupt is left behind. */
const GRACE_MS = 900;

/** `work`, except that it also ends, rejected, soon after `signal` is aborted. */
export async function interruptible<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const left = new Promise<never>((_, reject) => {
    const give = () => {
      timer = setTimeout(() => reject(signal.reason), GRACE_MS);
    };
    if (signal.aborted) give();
    else signal.addEventListener('abort', give, { once: true });
  });
  try {
    return await Promise.race([work, left]);
  } finally {
    clearTimeout(timer);
  }
}
