/** The middle value; of an even number of them, the upper one. */
export function median(values: readonly number[]): number {
  return [...values].sort((x, y) => x - y)[values.length >> 1] ?? Number.NaN;
}
