import type { ProverEvent } from './events.ts';

/** An event under the names that JSON has everywhere on the wire. */
export function wireEvent({ atMicros, jobId, attributes, ...rest }: ProverEvent): object {
  const named = { at_micros: atMicros, job_id: jobId, ...rest };
  return attributes === undefined ? named : { ...named, attributes: wireAttributes(attributes) };
}

export function wireAttributes(attributes: ProverEvent['attributes'] = {}) {
  const snake = (name: string) => name.replaceAll(/[A-Z]/g, (upper) => `_${upper.toLowerCase()}`);
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [snake(name), value]),
  );
}
