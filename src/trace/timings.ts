import type { ProverEvent, Stage } from '../telemetry/events.ts';
import { stagesOf } from './stages.ts';

/**
 * `total_ms` is the job's own time; `<stage>_ms`, in lower case, exists for each stage that ended.
 */
export type Timings = Readonly<
  Partial<Record<'total_ms' | `${Lowercase<Exclude<Stage, 'JOB'>>}_ms`, number>>
>;

/**
 * Milliseconds by stage. Partitions add up, also where they ran side by side, so that the stages of
 * a job can sum to more than its total. A stage that still runs is not counted.
 * @param events of one job, in order of arrival
 */
export function timingsOf(events: readonly ProverEvent[]): Timings {
  const micros = new Map<string, number>();
  for (const { stage, startMicros, endMicros } of stagesOf(events)) {
    if (endMicros === undefined) continue;
    const name = stage === 'JOB' ? 'total_ms' : `${stage.toLowerCase()}_ms`;
    micros.set(name, (micros.get(name) ?? 0) + endMicros - startMicros);
  }
  return Object.fromEntries([...micros].map(([name, sum]) => [name, sum / 1000]));
}
