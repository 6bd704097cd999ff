import type { BackendName, DeviceId } from '../backend/backend.ts';

/** A job in the scheduler's eyes: who it is, where it runs and how urgent it is. */
export interface Slot {
  readonly jobId: string;
  readonly backend: BackendName;
  /** Of the backend, those that it may run on; the first that is free is taken. */
  readonly devices: readonly DeviceId[];
  /** 0 is the most urgent. */
  readonly rank: number;
  /** Has begun before, with another partition: it starts also while the others drain. */
  readonly goesOn?: true;
}

export interface Running {
  readonly slot: Slot;
  readonly device: DeviceId;
}

export interface PipelineState {
  /** By rank; within a rank those that go on, then in order of arrival. */
  readonly waiting: readonly Slot[];
  /** At most one a device. */
  readonly running: readonly Running[];
  /** While it drains, nothing new starts. */
  readonly draining: boolean;
}

export type PipelineEvent =
  | { readonly type: 'submitted'; readonly slot: Slot }
  /** Finished, failed or given up, whether it was waiting or running. */
  | { readonly type: 'ended'; readonly jobId: string }
  | { readonly type: 'drained' };

export type Action = Running & { readonly type: 'start' };

export const EMPTY: PipelineState = { waiting: [], running: [], draining: false };

/**
 * The scheduler: pure, so that tests drive it with a list of events. One job at a time a device.
 */
export function step(
  state: PipelineState,
  event: PipelineEvent,
): { readonly state: PipelineState; readonly actions: readonly Action[] } {
  const isKept = (slot: Slot) => event.type !== 'ended' || slot.jobId !== event.jobId;
  const arrived = event.type === 'submitted' ? [event.slot] : [];
  const draining = state.draining || event.type === 'drained';
  const waiting: Slot[] = [];
  const running = state.running.filter(({ slot }) => isKept(slot));
  const actions: Action[] = [];
  for (const slot of [...state.waiting.filter(isKept), ...arrived].sort(byUrgency)) {
    const isHeld = draining && slot.goesOn !== true;
    const device = isHeld
      ? undefined
      : slot.devices.find((id) => isFree(running, slot.backend, id));
    if (device === undefined) {
      waiting.push(slot);
    } else {
      running.push({ slot, device });
      actions.push({ type: 'start', slot, device });
    }
  }
  return { state: { waiting, running, draining }, actions };
}

function isFree(running: readonly Running[], backend: BackendName, device: DeviceId): boolean {
  return !running.some((busy) => busy.slot.backend === backend && busy.device === device);
}

function byUrgency(x: Slot, y: Slot): number {
  return x.rank - y.rank || Number(y.goesOn === true) - Number(x.goesOn === true);
}
