import type { BackendName } from '../backend/backend.ts';

/** A job in the scheduler's eyes: who it is, where it runs and how urgent it is. */
export interface Slot {
  readonly jobId: string;
  readonly backend: BackendName;
  /** 0 is the most urgent. */
  readonly rank: number;
  /** Has begun before, with another partition: it starts also while the others drain. */
  readonly goesOn?: true;
}

export interface PipelineState {
  /** By rank; within a rank those that go on, then in order of arrival. */
  readonly waiting: readonly Slot[];
  /** At most one a backend. */
  readonly running: readonly Slot[];
  /** While it drains, nothing new starts. */
  readonly draining: boolean;
}

export type PipelineEvent =
  | { readonly type: 'submitted'; readonly slot: Slot }
  /** Finished, failed or given up, whether it was waiting or running. */
  | { readonly type: 'ended'; readonly jobId: string }
  | { readonly type: 'drained' };

export type Action = { readonly type: 'start'; readonly slot: Slot };

export const EMPTY: PipelineState = { waiting: [], running: [], draining: false };

/**
 * The scheduler: pure, so that tests drive it with a list of events. One job at a time a backend.
 */
export function step(
  state: PipelineState,
  event: PipelineEvent,
): { readonly state: PipelineState; readonly actions: readonly Action[] } {
  const kept = (slots: readonly Slot[]) =>
    event.type === 'ended' ? slots.filter((slot) => slot.jobId !== event.jobId) : slots;
  const arrived = event.type === 'submitted' ? [event.slot] : [];
  const draining = state.draining || event.type === 'drained';
  const waiting: Slot[] = [];
  const running = [...kept(state.running)];
  const actions: Action[] = [];
  for (const slot of [...kept(state.waiting), ...arrived].sort(byUrgency)) {
    const isHeld = draining && slot.goesOn !== true;
    if (isHeld || running.some((busy) => busy.backend === slot.backend)) {
      waiting.push(slot);
    } else {
      running.push(slot);
      actions.push({ type: 'start', slot });
    }
  }
  return { state: { waiting, running, draining }, actions };
}

function byUrgency(x: Slot, y: Slot): number {
  return x.rank - y.rank || Number(y.goesOn === true) - Number(x.goesOn === true);
}
