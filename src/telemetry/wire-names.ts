import { withWireNames } from '../core/wire-names.ts';
import type { ProverEvent } from './events.ts';

/** An event under the names that JSON has everywhere on the wire. */
export function wireEvent({ atMicros, jobId, attributes, ...rest }: ProverEvent): object {
  const named = { at_micros: atMicros, job_id: jobId, ...rest };
  return attributes === undefined ? named : { ...named, attributes: withWireNames(attributes) };
}
