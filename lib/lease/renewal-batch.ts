import { StoreError, type RenewRequest, type RenewResult } from '../stores/lease-store.js';
import { toStoreError } from '../stores/to-store-error.js';
import type { Clock, ClockTimer } from '../time/clock.js';
import type { LeaseCore } from './lease-core.js';
import type { Stamp } from './validity.js';

/** Renewals that travel in one round trip, each with its own time limit. */
export class RenewalBatch {
  readonly requests: RenewRequest[];
  private readonly timers: ClockTimer[] = [];
  private open: Set<LeaseCore> | undefined;
  private finished = false;

  constructor(
    private readonly cores: readonly LeaseCore[],
    readonly sent: Stamp,
  ) {
    this.requests = cores.map((core) => ({
      key: core.key,
      holderId: core.holderId,
      fencingToken: core.fencingToken,
      ttlMs: core.requestTtlMs(),
    }));
  }

  /** Gives up waiting for leases whose limit has passed; one timer for each different limit. */
  limit(clock: Clock, limitOf: (core: LeaseCore) => number, onLate: (cores: LeaseCore[], error: StoreError) => void): void {
    const byLimit = new Map<number, LeaseCore[]>();
    for (const core of this.cores) {
      const limit = limitOf(core);
      const group = byLimit.get(limit);
      if (group) group.push(core);
      else byLimit.set(limit, [core]);
    }
    for (const [limit, group] of byLimit) {
      const late = (): void => {
        if (this.finished) return;
        this.open ??= new Set(this.cores);
        for (const core of group) this.open.delete(core);
        onLate(group, new StoreError('transient', `the store did not answer a renewal within ${String(Math.round(limit))} ms`));
      };
      this.timers.push(clock.setTimer(late, limit));
    }
  }

  finish(): void {
    this.finished = true;
    for (const timer of this.timers) timer.cancel();
  }

  /** Every answer counts, also for a lease that was given up: a late yes is a yes, and a late no is final. */
  each(results: readonly RenewResult[], fn: (core: LeaseCore, result: RenewResult, ttlMs: number) => void): void {
    this.cores.forEach((core, i) => {
      const result = results[i] ?? MISSING;
      if (result.kind === 'unknown' && this.open && !this.open.has(core)) return;
      fn(core, result, (this.requests[i] as RenewRequest).ttlMs);
    });
  }

  /** The whole call failed: for those that have not been given up already. */
  fail(error: unknown, fn: (core: LeaseCore, reason: StoreError) => void): void {
    if (this.finished) return;
    this.finish();
    const reason = toStoreError(error);
    for (const core of this.open ?? this.cores) fn(core, reason);
  }
}

const MISSING: RenewResult = { kind: 'unknown', error: new StoreError('transient', 'the store left a renewal without an answer') };
