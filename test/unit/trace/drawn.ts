import type { Micros } from '../../../src/core/units.ts';
import type { EventName, ProverEvent } from '../../../src/telemetry/events.ts';

/**
 * Events from a drawn waterfall. A row is `STAGE [pN] [wN] [@device]`, then the time axis: a column
 * is a millisecond, the leftmost `├` or `┼` of the drawing is `zeroMicros`; `├──┤` started and
 * ended there, `┼` did both at once, `├──` has no end. An error code may follow `┤`. The events
 * come sorted by time, ends first.
 */
export function drawn(picture: string, zeroMicros = 5_000_000, jobId = 'j'): ProverEvent[] {
  const rows = picture.split('\n').filter((row) => row.trim() !== '');
  const zero = Math.min(...rows.map((row) => row.search(/[├┼]/)));
  return rows
    .flatMap((row) => eventsOfRow(row, zero, zeroMicros, jobId))
    .sort((x, y) => x.event.atMicros - y.event.atMicros || x.rank - y.rank)
    .map(({ event }) => event);
}

interface Ranked {
  readonly event: ProverEvent;
  /** Among events of one time: ends, then starts, then the ends of stages that took no time. */
  readonly rank: 0 | 1 | 2;
}

function eventsOfRow(row: string, zero: number, zeroMicros: number, jobId: string): Ranked[] {
  const starts = row.search(/[├┼]/);
  const ends = row.search(/[┤┼]/);
  const [stage, ...words] = row.slice(0, starts).trim().split(/\s+/);
  const numberAfter = (letter: string) =>
    words.find((word) => word.startsWith(letter))?.replace(letter, '');
  const partition = numberAfter('p');
  const worker = numberAfter('w');
  const device = numberAfter('@');
  const error = row.slice(ends + 1).trim();
  const event = (edge: 'START' | 'END', column: number): ProverEvent => ({
    atMicros: (zeroMicros + (column - zero) * 1000) as Micros,
    event: `${stage}_${edge}` as EventName,
    jobId,
    ...(partition !== undefined && { partition: Number(partition) }),
    ...(worker !== undefined && { worker: Number(worker) }),
    ...(device !== undefined && { device }),
    ...(edge === 'END' && error !== '' && { attributes: { error } }),
  });
  const start: Ranked = { event: event('START', starts), rank: 1 };
  return ends < 0 ? [start] : [start, { event: event('END', ends), rank: ends === starts ? 2 : 0 }];
}
