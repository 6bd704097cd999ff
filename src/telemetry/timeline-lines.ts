import type { Micros } from '../core/units.ts';
import type { EventListener, ProverEvent, Stage } from './events.ts';
import { edgeOf, identityOf } from './stage-pairs.ts';

/** Stages that a worker of a device does: their lines name it, as GPU_START does. */
const BY_WORKER: ReadonlySet<Stage> = new Set([
  'GPU',
  'H2D',
  'NTT',
  'MSM_H',
  'MSM_L',
  'MSM_A',
  'MSM_B_G1',
  'MSM_B_G2',
] as const);

interface JobState {
  readonly kind: string;
  /** What its client calls it, else its id. */
  readonly name: string;
  /** Times of open starts, by identity, latest last. */
  readonly starts: Map<string, Micros[]>;
}

/**
 * Events as the lines that cuzk prints: `TIMELINE,<ms since start>,<EVENT>,<job>,<detail>`. A job
 * whose client named it (cuzk's request_id) goes by that name, else by its id.
 *
 *     SYNTH_START  partition=N | kind=K               SYNTH_END  [partition=N,]synth_ms=M
 *     GPU_QUEUE    partition=N | monolithic           GPU_PICKUP worker=W[,partition=N]
 *     GPU_START    worker=W[,partition=N]             GPU_END    worker=W[,partition=N],gpu_ms=M
 *
 * The other stages have lines of the same two forms, by worker or not. Beyond cuzk, which prints
 * nothing on failure, the end of a failed stage is printed and ends in `,error=CODE`. Milliseconds
 * are whole, rounded down.
 */
export class TimelineLines {
  readonly #startedMicros: Micros;
  readonly #write: (line: string) => void;
  readonly #jobs = new Map<string, JobState>();

  /** @param write takes one line, without its line feed */
  constructor(startedMicros: Micros, write: (line: string) => void) {
    this.#startedMicros = startedMicros;
    this.#write = write;
  }

  readonly listener: EventListener = (event) => {
    const detail = this.#detail(event);
    const { name } = this.#jobOf(event);
    if (event.event === 'JOB_END') this.#jobs.delete(event.jobId);
    if (detail === undefined) return;
    const offset = wholeMillis(event.atMicros - this.#startedMicros);
    const job = name.replace(/\p{Cc}/gu, '?');
    this.#write(`TIMELINE,${offset},${event.event},${job},${detail}`);
  };

  /**
   * @returns undefined for an event inside a stage of the same identity: the outer one is printed
   */
  #detail(event: ProverEvent): string | undefined {
    const { partition, worker = 0, attributes } = event;
    const edge = edgeOf(event);
    const part = partition === undefined ? [] : [`partition=${partition}`];
    if (edge === undefined || BY_WORKER.has(edge.stage)) part.unshift(`worker=${worker}`);
    if (event.event === 'GPU_QUEUE') return partition === undefined ? 'monolithic' : `${part[1]}`;
    if (edge === undefined) return part.join(',');
    const job = this.#jobOf(event);
    const starts = startsOf(job, identityOf(edge.stage, event));
    if (edge.edge === 'start') {
      if (starts.push(event.atMicros) > 1) return undefined;
      return part.length === 0 ? `kind=${job.kind}` : part.join(',');
    }
    const started = starts.pop();
    if (starts.length > 0) return undefined;
    if (started !== undefined) {
      part.push(`${edge.stage.toLowerCase()}_ms=${wholeMillis(event.atMicros - started)}`);
    }
    if (attributes?.error !== undefined) part.push(`error=${attributes.error}`);
    return part.join(',');
  }

  #jobOf({ jobId, attributes }: ProverEvent): JobState {
    const known = this.#jobs.get(jobId);
    if (known !== undefined) return known;
    const state: JobState = {
      kind: String(attributes?.kind ?? 'unknown'),
      name: String(attributes?.label ?? jobId),
      starts: new Map(),
    };
    this.#jobs.set(jobId, state);
    return state;
  }
}

function startsOf(job: JobState, identity: string): Micros[] {
  const known = job.starts.get(identity);
  if (known !== undefined) return known;
  const starts: Micros[] = [];
  job.starts.set(identity, starts);
  return starts;
}

function wholeMillis(micros: number): number {
  return Math.max(0, Math.floor(micros / 1000));
}
