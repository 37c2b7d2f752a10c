import { LeaseBusyError } from '../errors/lease-busy.error.js';
import { LeaseKeyError } from '../errors/lease-key.error.js';
import { LeaseOptionsError } from '../errors/lease-options.error.js';
import { cronKey } from '../lease.constants.js';
import { isHeld } from '../lease/lease-control.js';
import type { LeaseEngine } from '../lease/lease-engine.js';
import { resolveAcquireOptions, type AcquireOptions } from '../lease/lease-options.js';
import type { Lease } from '../lease/lease.js';
import type { RunRecord } from '../stores/instant-store.js';
import type { LeaseRecord } from '../stores/lease-store.js';
import type { LeaseRegistry } from './lease-registry.js';
import type { LeasedCalls, OuterCall } from './leased-calls.js';
import { once, type OnceOptions } from './once.js';

/** What a service is built on; for this library only. */
export interface LeaseServiceParts {
  readonly engine: LeaseEngine;
  readonly registry: LeaseRegistry;
  readonly calls: LeasedCalls;
}

let partsOf: (service: LeaseService) => LeaseServiceParts;

/** Leases for code that asks by itself; `@WithLease` is the declared form of `withLease`. Injectable. */
export class LeaseService {
  readonly #parts: LeaseServiceParts;

  static {
    partsOf = (service) => service.#parts;
  }

  /** @internal Made by `LeaseModule`, or by `createLeaseService` in tests. */
  constructor(parts: LeaseServiceParts) {
    this.#parts = parts;
  }

  /**
   * Acquires the lease of `key`, waiting up to `wait`. It is kept alive until `release()`: best with `await using`. At shutdown
   * it counts as a running handler until then.
   * @throws LeaseBusyError, also at once when a handler of this async context holds the key; LeaseUnavailableError;
   * LeaseNotDurableError; LeaseShutdownError; LeaseKeyError; LeaseOptionsError; the reason of `signal`
   */
  async acquire(key: string, options?: AcquireOptions): Promise<Lease> {
    const resolved = resolveAcquireOptions(options, this.#parts.engine.defaults);
    const outer = this.#outer(key);
    if (outer) throw new LeaseBusyError(key, { ...describe(outer), retryAfterMs: outer.lease.remainingMs() });
    return this.#parts.registry.acquire(key, resolved);
  }

  /**
   * One try, whatever `wait` says: the lease, or `undefined` when it is busy.
   * @throws LeaseUnavailableError, LeaseNotDurableError, LeaseShutdownError, LeaseKeyError, LeaseOptionsError, the reason of `signal`
   */
  async tryAcquire(key: string, options?: AcquireOptions): Promise<Lease | undefined> {
    const resolved = resolveAcquireOptions(options, this.#parts.engine.defaults);
    return this.#outer(key) ? undefined : this.#parts.registry.tryAcquire(key, resolved);
  }

  /**
   * Runs `fn` under the lease of `key` and gives back its result; the lease is released when that has settled. Called inside a
   * handler that holds the key it joins that lease.
   * @throws what `acquire` throws; LeaseLostError when the lease was lost, once `fn` has settled; what `fn` throws, as it is
   */
  withLease<T>(key: string, fn: (lease: Lease) => T): Promise<Awaited<T>>;
  withLease<T>(key: string, options: AcquireOptions | undefined, fn: (lease: Lease) => T): Promise<Awaited<T>>;
  async withLease<T>(
    key: string,
    optionsOrFn: AcquireOptions | undefined | ((lease: Lease) => T),
    fn?: (lease: Lease) => T,
  ): Promise<Awaited<T>> {
    const options = typeof optionsOrFn === 'function' ? undefined : optionsOrFn;
    const body = typeof optionsOrFn === 'function' ? optionsOrFn : fn;
    if (typeof body !== 'function') {
      throw new LeaseOptionsError(
        'fn',
        `withLease('${key}') was given no function to run: write withLease(key, options, async (lease) => …).`,
      );
    }
    return this.#parts.calls.withLease(key, options, body);
  }

  /**
   * Runs `fn` under the lease of `key`, and gives its result to every caller with that key for `keepFor`: a recorded result is
   * never computed again. Who calls meanwhile waits (`wait`) or is busy. An error of `fn` says that it did not take effect: it is
   * thrown, and the next call runs `fn` again. Where `fn` cannot tell, as after a time-out, let it throw an `EffectUncertainError`.
   *
   * A try that nobody ended (its process crashed, or lost its lease) is told apart: calls reject with `EffectUncertainError`, unless
   * `rerun: true` says that `fn` may run once more: at least once, with a higher fencing token.
   *
   * Results are JSON of at most 64 KiB, and every caller, the first one too, is given what JSON makes of them. A result that cannot
   * be kept is an `EffectResultError` for all; its effect took place and is not run again.
   *
   * Limits: between the effect and its record lies a moment in which a crash leaves it uncertain; no store can close that gap, only
   * the system that the effect reaches (give it the key as its idempotency key). The record is as durable as the store: FLUSHALL,
   * eviction, or a failover to a replica that missed the last write forgets it, and `fn` may run again. The key is that of a lease
   * too: inside a handler that holds it, `once` is busy, so give it a key of its own.
   * @throws EffectUncertainError, EffectResultError, and what `withLease` throws
   */
  async once<T>(key: string, fn: (lease: Lease) => T, options: OnceOptions): Promise<Awaited<T>> {
    checkKey(key);
    return once(this.#parts, key, fn, options);
  }

  /**
   * What an operator may know of the key now, or `undefined` when it is free.
   * @throws LeaseUnavailableError, LeaseKeyError
   */
  inspect(key: string): Promise<LeaseRecord | undefined> {
    return this.#parts.engine.inspect(key);
  }

  /**
   * An operator's act: ends the lease whoever holds it. The next token is higher, and the holder learns it at its next renewal.
   * @returns what was held, or `undefined` when it was free
   * @throws LeaseUnavailableError, LeaseKeyError
   */
  forceRelease(key: string): Promise<LeaseRecord | undefined> {
    return this.#parts.engine.forceRelease(key);
  }

  /**
   * The last 100 runs at most of a scheduled job (`@SingletonCron`, `@SingletonInterval`, `SingletonJobs`), newest first: which
   * instant, where, and how it ended. `name` is that of the job. Empty for a job that the store does not know.
   * @throws LeaseUnavailableError, LeaseOptionsError where the store remembers no instants
   */
  cronHistory(name: string): Promise<readonly RunRecord[]> {
    return this.#parts.engine.history(cronKey(name));
  }

  /** The innermost lease of the running handler (by async context), of `key` where it is given, or `undefined`. */
  current(key?: string): Lease | undefined {
    return this.#parts.calls.current(key)?.lease;
  }

  /** A call of this async context that holds the key: asking for it again could only wait for itself. */
  #outer(key: string): OuterCall | undefined {
    checkKey(key);
    const outer = this.#parts.calls.current(key);
    const state = outer && isHeld(outer.lease);
    return state === 'held' || state === 'suspect' ? outer : undefined;
  }
}

function checkKey(key: unknown): void {
  if (typeof key === 'string' && key !== '') return;
  const shown = typeof key === 'string' ? 'empty' : `of type ${key === null ? 'null' : typeof key}`;
  throw new LeaseKeyError(`The key of a lease is ${shown}: give a string that names what is protected, such as 'job:42'.`);
}

function describe({ lease, site }: OuterCall): { detail: string; holderTag: string; fencingToken: number } {
  const detail = `${site}, which this very call runs inside, holds it: take it from current() there, or withLease, which joins it`;
  return { detail, holderTag: lease.holderTag, fencingToken: lease.fencingToken };
}

/** For this library: what a service is built on. */
export function leaseServiceParts(service: LeaseService): LeaseServiceParts {
  return partsOf(service);
}
