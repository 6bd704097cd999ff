import { randomUUID } from 'node:crypto';
import { goError } from './envelope.ts';

/**
 * Lotus places a worker by its task types: one that does WindowPoSt does nothing else, and so with
 * WinningPoSt. So each role is an endpoint, a worker of its own to the miner.
 */
export const ROLES = {
  seal: {
    path: '/worker/seal',
    tasks: ['seal/v0/commit/2', 'seal/v0/provereplicaupdate/2'],
    circuits: ['porep', 'snap-deals'],
  },
  'window-post': {
    path: '/worker/wdpost',
    tasks: ['post/v0/windowproof'],
    circuits: ['window-post'],
  },
  'winning-post': {
    path: '/worker/winpost',
    tasks: ['post/v0/winningproof'],
    circuits: ['winning-post'],
  },
} as const;
export type Role = keyof typeof ROLES;

/** One worker as a miner sees it. Its session lasts as long as this process. */
export class WorkerEndpoint {
  readonly role: Role;
  readonly session = randomUUID();
  readonly #disabledTasks = new Set<string>();
  enabled = true;
  /** When a miner last asked whether it lives: milliseconds of `performance.now`. */
  heartbeatAt = Number.NEGATIVE_INFINITY;

  constructor(role: Role) {
    this.role = role;
  }

  get tasks(): readonly string[] {
    return ROLES[this.role].tasks.filter((task) => !this.#disabledTasks.has(task));
  }

  setTask(task: string, enabled: boolean): void {
    if (!(ROLES[this.role].tasks as readonly string[]).includes(task)) {
      throw goError(`task ${task} is not one of this worker`);
    }
    if (enabled) this.#disabledTasks.delete(task);
    else this.#disabledTasks.add(task);
  }

  /** The miner's heartbeat. */
  beat(): string {
    if (!this.enabled) throw goError('worker disabled');
    this.heartbeatAt = performance.now();
    return this.session;
  }
}
