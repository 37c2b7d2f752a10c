import type { Lease } from '../lease/lease.js';
import type { AcquireOptions } from '../lease/lease-options.js';

/** The call that holds a key in the present async context. */
export interface OuterCall {
  readonly lease: Lease;
  /** Where it was declared, for messages. */
  readonly site: string;
}

/**
 * What the service asks of the room that runs handlers; wired where both are built, so that `withLease` and decorators take
 * one path.
 */
export interface LeasedCalls {
  /** Runs `fn` under the lease of `key`, or joins the lease that this async context holds. */
  withLease<T>(key: string, options: AcquireOptions | undefined, fn: (lease: Lease) => T): Promise<Awaited<T>>;
  /** The innermost call of this async context that still runs under its lease, of `key` where it is given. */
  current(key?: string): OuterCall | undefined;
  /** True inside a leased handler that has not settled, of whichever service. */
  inside(): boolean;
}
