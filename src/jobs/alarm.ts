import type { Micros } from '../core/units.ts';

/** The clock of the machine may be set meanwhile, and a timer cannot wait for a month. */
const LOOK_EVERY_MS = 60_000;

/**
 * Calls back once the machine's clock has reached a time.
 * @returns what calls the alarm off
 */
export function alarm(at: Micros, ring: () => void): () => void {
  let timer: NodeJS.Timeout;
  const look = (): void => {
    const leftMs = at / 1000 - Date.now();
    if (leftMs <= 0) ring();
    else timer = setTimeout(look, Math.min(leftMs, LOOK_EVERY_MS));
  };
  timer = setTimeout(look, 0);
  return () => clearTimeout(timer);
}
