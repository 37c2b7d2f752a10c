import type { LeaseStore, LeaveRequest } from '../stores/lease-store.js';
import { TakeBacks, type Leftover } from '../stores/take-backs.js';
import type { Clock } from '../time/clock.js';
import { withTimeLimit } from './time-limit.js';

/** What may be left behind at the store; with `wait` also the place in the line. */
export interface LeaseLeftover extends Leftover, LeaveRequest {
  /** Longest time one try may take. */
  readonly limitMs: number;
  /** Default: by `LeaseStore.leave`. */
  readonly takeBack?: (() => Promise<unknown>) | undefined;
}

/** A place in the line does not end by itself while its process waits for the same key: it is taken back for so long. */
const PLACE_LIFE_MS = 86_400_000;
const FIRST_PAUSE_MS = 50;

/** Takes back what a lease may have left at the store: by its holderId, which is never used again. */
export class Undoer extends TakeBacks<LeaseLeftover> {
  constructor(store: LeaseStore, clock: Clock) {
    const takeBack = ({ key, holderId, holderTag, wait, limitMs, takeBack: own }: LeaseLeftover): Promise<unknown> => {
      const call = own?.() ?? store.leave({ key, holderId, holderTag, wait });
      return withTimeLimit(clock, limitMs, call, () => store.unanswered?.());
    };
    super({ clock, takeBack, firstPauseMs: FIRST_PAUSE_MS });
  }

  undo(leftover: LeaseLeftover): void {
    this.add(leftover, leftover.wait === undefined ? leftover.ttlMs : Math.max(leftover.ttlMs, PLACE_LIFE_MS));
  }
}
