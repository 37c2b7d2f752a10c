import type { Lease } from '../lease/lease.js';
import type { AcquireOptions } from '../lease/lease-options.js';

/** The call that holds a key in the present async context. */
export interface OuterCall {
  readonly lease: Lease;
  /** Where it was declared, for messages. */
  readonly site: string;
}

/** Options of one leased call. */
export interface CallOptions extends AcquireOptions {
  /** What a call does whose key this async context holds already. Default: `join`. */
  readonly reentry?: 'join' | 'error';
  /** Where it was declared, for messages. Default: `withLease('<key>')`. */
  readonly site?: string;
}

/**
 * What the service asks of the room that runs handlers; wired where both are built, so that `withLease` and decorators take
 * one path.
 */
export interface LeasedCalls {
  /** Runs `fn` under the lease of `key`, or joins the lease that this async context holds. */
  withLease<T>(key: string, options: CallOptions | undefined, fn: (lease: Lease) => T): Promise<Awaited<T>>;
  /** Runs `fn` under a lease that was acquired for it already, and gives that back. */
  under<T>(lease: Lease, site: string, fn: (lease: Lease) => T): Promise<Awaited<T>>;
  /** The innermost call of this async context that still runs under its lease, of `key` where it is given. */
  current(key?: string): OuterCall | undefined;
  /** True inside a leased handler that has not settled, of whichever service. */
  inside(): boolean;
}
