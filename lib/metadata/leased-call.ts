import type { Duration } from '../time/duration.js';

/**
 * How a handler's result takes its time, and so when the lease begins and ends.
 * `promise`: acquired at the call. `observable`: the call returns an `Observable` at once, acquired on subscribe.
 * `iterable`: the call returns an async iterable at once, acquired on the first `next()`.
 */
export type ReturnShape = 'promise' | 'observable' | 'iterable';

/** What the executor does while the key is held by somebody else and the wait (if any) has ended. */
export type OnBusy = 'throw' | 'skip';

/** What a nested call does whose key this async context holds already. */
export type Reentry = 'join' | 'error';

/** Options of one leased call, checked where they were declared; what is left out falls back to the defaults of the service. */
export interface LeasedCallOptions {
  readonly ttl?: Duration | undefined;
  readonly wait?: Duration | undefined;
  readonly maxHold?: Duration | undefined;
  readonly minToken?: number | undefined;
  /** Aborts the wait for a busy lease. */
  readonly signal?: AbortSignal | undefined;
  /** Default: `throw`. */
  readonly onBusy?: OnBusy | undefined;
  /** The result of a skipped call; `undefined` when it was left out, or given as `undefined`. */
  readonly skipValue?: unknown;
  /** Default: `join`. */
  readonly reentry?: Reentry | undefined;
}

/** The part of a lease that parameters can be filled from. `@CurrentLease()` gets the very object that the executor passes. */
export interface InjectableLease {
  readonly fencingToken: number;
}

/** What a wrapped method (or `withLease`) hands to the executor: one call, not yet begun. */
export interface LeasedCall {
  /** Where it was declared, for messages: `JobsController.run`. */
  readonly site: string;
  readonly options: LeasedCallOptions;
  readonly returns: ReturnShape;
  /**
   * Works out the key; the executor calls it once for each acquisition, inside the promise, the subscription or the first `next()`,
   * so that a bad key rejects (or errors the stream) and never throws synchronously. `holds` tells whether the caller's async
   * context holds the lease of a key, and so would be joined.
   * @throws LeaseKeyError
   */
  key(holds: (key: string) => boolean): string;
  /** A lease that was acquired for this call already, such as that of a scheduled run: the executor runs the call under it and gives it back. */
  readonly lease?: InjectableLease;
  /** Fills the injected parameters and runs the body with the right `this`; gives back what the body returns, or throws what it throws. */
  invoke(lease: InjectableLease): unknown;
}

/** The one path that every leased call takes; `getLeaseExecutorToken(service)` resolves to it. */
export interface LeaseExecutorPort {
  /**
   * Runs a call under its lease.
   * @returns at once, in the shape that `call.returns` says: a promise, an `Observable`, or an async iterable. Never throws synchronously.
   */
  run(call: LeasedCall): unknown;
}
