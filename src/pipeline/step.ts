import type { BackendName } from '../backend/backend.ts';

/** A job in the scheduler's eyes: who it is and where it runs. */
export interface Slot {
  readonly jobId: string;
  readonly backend: BackendName;
}

export interface PipelineState {
  /** In order of arrival. */
  readonly waiting: readonly Slot[];
  /** At most one a backend. */
  readonly running: readonly Slot[];
}

export type PipelineEvent =
  | { readonly type: 'submitted'; readonly slot: Slot }
  /** Finished, failed or given up, whether it was waiting or running. */
  | { readonly type: 'ended'; readonly jobId: string };

export type Action = { readonly type: 'start'; readonly slot: Slot };

export const EMPTY: PipelineState = { waiting: [], running: [] };

/**
 * The scheduler: pure, so that tests drive it with a list of events. First come, first served, by
 * backend.
 */
export function step(
  state: PipelineState,
  event: PipelineEvent,
): { readonly state: PipelineState; readonly actions: readonly Action[] } {
  const kept = (slots: readonly Slot[]) =>
    event.type === 'ended' ? slots.filter((slot) => slot.jobId !== event.jobId) : slots;
  const arrived = event.type === 'submitted' ? [event.slot] : [];
  const waiting: Slot[] = [];
  const running = [...kept(state.running)];
  const actions: Action[] = [];
  for (const slot of [...kept(state.waiting), ...arrived]) {
    if (running.some((busy) => busy.backend === slot.backend)) {
      waiting.push(slot);
    } else {
      running.push(slot);
      actions.push({ type: 'start', slot });
    }
  }
  return { state: { waiting, running }, actions };
}
