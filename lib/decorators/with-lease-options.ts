import type { OnBusy, Reentry } from '../metadata/leased-call.js';
import type { Duration } from '../time/duration.js';

/** Options of `@WithLease`. */
export interface WithLeaseOptions {
  /** How long the lease lives without a renewal (it is renewed while the method runs): 100 ms to one day. Default: the module's `ttl` (30 s). */
  readonly ttl?: Duration | undefined;
  /** How long to wait while the key is busy, at most a day; `0` tries once. Default: the module's `wait` (no wait). */
  readonly wait?: Duration | undefined;
  /** Longest time to hold it, at most 7 days; then the lease is lost with reason `max-hold`. Default: the module's `maxHold` (none). */
  readonly maxHold?: Duration | undefined;
  /**
   * While the key is busy and the wait has ended: `throw` a `LeaseBusyError`, or `skip` the body and return `skipValue`. Default: `throw`.
   */
  readonly onBusy?: OnBusy | undefined;
  /**
   * What a skipped call returns. Without it a skipped call returns `undefined`, which the return type must then allow; on an HTTP,
   * RPC or queue handler it must be given.
   */
  readonly skipValue?: unknown;
  /**
   * A nested call for a key that this async context holds: `join` shares its lease, `error` rejects at once. Default: `join`.
   */
  readonly reentry?: Reentry | undefined;
  /** Name of the service, as in `LeaseModule.forRoot({ name })`. Default: the service without a name. */
  readonly service?: string | undefined;
  /**
   * How the result takes its time, where it cannot be seen: the call returns at once, and the lease is acquired on subscribe
   * (`observable`) or on the first `next()` (`iterable`). Default: seen from async generators and the annotation `: Observable`;
   * otherwise the call returns a promise.
   */
  readonly returns?: 'observable' | 'iterable' | undefined;
}
