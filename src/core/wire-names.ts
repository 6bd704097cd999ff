/** Names of fields as JSON has them on the wire, `job_id`, for those in this code, `jobId`. */

export function toWireName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (upper) => `_${upper.toLowerCase()}`);
}

export function withWireNames<T>(record: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(
    Object.entries(record).map(([name, value]) => [toWireName(name), value]),
  );
}

export function fromWireNames<T>(record: Readonly<Record<string, T>>): Record<string, T> {
  const ours = (name: string) =>
    name.replaceAll(/_[a-z]/g, ([, letter = '']) => letter.toUpperCase());
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [ours(name), value]));
}
