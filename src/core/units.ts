/** Microseconds since the Unix epoch, comparable between the processes of one machine. */
export type Micros = number & { readonly __unit: 'micros' };

export function nowMicros(): Micros {
  return Math.round((performance.timeOrigin + performance.now()) * 1000) as Micros;
}

export const KIB = 1024;
export const MIB = 1024 * KIB;
export const GIB = 1024 * MIB;
