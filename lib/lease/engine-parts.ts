import type { Clock } from '../time/clock.js';
import type { LeaseStore } from '../stores/lease-store.js';
import type { LeaseEvents } from '../events/lease-events.js';
import type { Floors } from './floors.js';
import type { GrantedLease } from './lease-core.js';
import type { LeaseDefaults } from './lease-options.js';
import type { Lease } from './lease.js';
import type { ServerTime } from './server-time.js';
import type { Undoer } from './undo.js';
import type { Stamper } from './validity.js';

/** What the parts of the engine ask of the whole. */
export interface EngineParts {
  readonly store: LeaseStore;
  readonly clock: Clock;
  readonly events: LeaseEvents;
  readonly defaults: LeaseDefaults;
  readonly holder: string;
  readonly floors: Floors;
  readonly stamper: Stamper;
  readonly serverTime: ServerTime;
  readonly undoer: Undoer;
  /** A grant becomes a lease that is kept alive. */
  hold(granted: GrantedLease, waitedMs: number): Lease;
  /** Runs a call to the store outside the async context of the caller, which must not live on in connections and timers. */
  outside<T>(call: () => T): T;
}
