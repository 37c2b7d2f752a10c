import type { Expiring } from './expiring-map.js';

/** A lease as it is kept; replaced as a whole, never changed. */
export interface HeldLease extends Expiring {
  readonly state: 'held' | 'reserved' | 'cooldown';
  /** Empty in a cooldown: nobody's. */
  readonly holderId: string;
  readonly holderTag: string;
  readonly holder: string;
  readonly fencingToken: number;
  /** The longest ttl granted so far that the present expiry stands for. */
  readonly ttlMs: number;
  readonly since: number;
}
