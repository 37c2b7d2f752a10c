import type { LeaseStore } from './stores/lease-store.js';
import type { RedisConnectionOption } from './stores/redis/connection-option.js';

import type { Duration } from './time/duration.js';

/** Options of `LeaseModule.forRoot()`. All durations: a number is **seconds**, a string carries its unit (`'500ms'`, `'30s'`). */
export interface LeaseModuleOptions {
  /**
   * Where Redis is: a URL, ioredis options (`sentinels` included), `{ cluster: { nodes, options } }`, or a ready ioredis client
   * (5 or 6). A ready client stays yours: it is never closed by us. Present but `undefined` or empty is an error at start-up,
   * so that a missing variable never means localhost. Default, when left out: `redis://127.0.0.1:6379`.
   */
  readonly connection?: RedisConnectionOption | undefined;
  /** A store in place of `connection`, such as `new MemoryLeaseStore()`; closed when the application shuts down. Default: Redis. */
  readonly store?: LeaseStore | undefined;
  /**
   * Name of this service, when an application has several: `@InjectLeaseService('billing')`, `@WithLease(key, { service: 'billing' })`.
   * With `forRootAsync` it stands beside the factory, not in its result, since injection tokens depend on it. Default: the default service.
   */
  readonly name?: string | undefined;
  /** Prefix of every key: applications with the same one on the same Redis share their leases. No braces. Default: `lease`. */
  readonly namespace?: string | undefined;
  /** How this process describes itself to operators and to those it keeps waiting. Default: `hostname:pid`. */
  readonly holder?: string | undefined;
  /** How long a lease lives without a renewal: 100 ms to one day; below 1 s a warning. Default: 30 s. */
  readonly ttl?: Duration | undefined;
  /** How long to wait for a busy lease, at most a day. Default: 0, no wait. */
  readonly wait?: Duration | undefined;
  /** Longest time to hold a lease, at most 7 days; then it is lost with reason `max-hold`. Default: none. */
  readonly maxHold?: Duration | undefined;
  /**
   * Longest time one call to the store may take; for one lease also at most max(ttl / 6, 50 ms). A string with its unit, since
   * ioredis reads a number in this place as milliseconds. Default: `'5s'`.
   */
  readonly commandTimeout?: string | undefined;
  /**
   * Ask the store at start-up, and fail the start-up with `LeaseUnavailableError` when it cannot be asked: after `commandTimeout`,
   * since Redis may be starting too and is tried until then, or at once where it refuses us (a wrong password). Default: false.
   */
  readonly connectOnStart?: boolean | undefined;
  /** How long running handlers may finish at shutdown; then they are aborted and have 2 s more to settle. Default: 10 s. */
  readonly shutdownGrace?: Duration | undefined;
  /** How long the last fencing token of an idle key is remembered. Default: `'24h'`. */
  readonly fenceRetention?: Duration | undefined;
  /** Waiters of one key (of all processes, where the store keeps a line as Redis does) beyond which a further one is busy at once. Default: no limit. */
  readonly maxQueue?: number | undefined;
  /**
   * A lease counts only when so many replicas have it; else it is given back, and the call rejects with `LeaseNotDurableError`,
   * or tries again while its `wait` lasts. It costs a connection, and each acquire the way to the replicas and back. Where Redis
   * refuses WAIT no lease is granted. Renewals are not waited for, so a failover may end a lease early: its holder is told.
   * Default: none, a lease may be lost in a failover.
   */
  readonly durability?: LeaseDurability | undefined;
  /**
   * The longest ttl of the whole fleet, at most a day: after a restart or a failover of Redis that it notices, this process
   * grants no lease for so long (less the time for which the server is up), since a holder that Redis has forgotten may still be
   * at work. Waits go on, other calls reject with `LeaseUnavailableError` and its `retryAfterMs`; what is held is renewed and
   * released; a call with a longer ttl is refused. FLUSHALL, and a restart behind a proxy that keeps the connection, are not noticed. Default: off, an `amnesia` event only.
   */
  readonly amnesiaGuard?: Duration | undefined;
}

/** How many replicas must have a lease before it counts. */
export interface LeaseDurability {
  /**
   * A whole number of 1 or more, and no more than the primary has. Only when it is all of them has the one that is promoted the
   * lease for certain.
   */
  readonly replicas: number;
  /** How long to wait for them; less for a lease whose ttl leaves no time for it (a fourteenth of it). Default: 1 s. */
  readonly timeout?: Duration | undefined;
}

/** For `forRootAsync({ useClass })` and `useExisting`. */
export interface LeaseOptionsFactory {
  createLeaseOptions(): LeaseModuleOptions | Promise<LeaseModuleOptions>;
}
