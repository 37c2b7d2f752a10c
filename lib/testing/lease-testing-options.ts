import type { LeaseStore } from '../stores/lease-store.js';
import type { Clock } from '../time/clock.js';

/** How leases are set up for a test. */
export interface LeaseTestingOptions {
  /** Moves time, such as a `ManualClock`. Default: the clock of the machine. */
  readonly clock?: Clock | undefined;
  /** Default: a new `MemoryLeaseStore` on the same clock. */
  readonly store?: LeaseStore | undefined;
}
