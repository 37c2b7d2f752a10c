import { LeaseEvents } from '../../lib/events/lease-events.js';
import type { LeaseEvent, LeaseEventType } from '../../lib/events/lease-event.js';
import { LeaseEngine } from '../../lib/lease/lease-engine.js';
import { resolveAcquireOptions, type AcquireOptions, type LeaseDefaults } from '../../lib/lease/lease-options.js';
import type { Lease } from '../../lib/lease/lease.js';
import { MemoryLeaseStore } from '../../lib/stores/memory/memory-lease-store.js';
import { FaultyLeaseStore } from '../../lib/testing/faulty-lease-store.js';
import { ManualClock } from '../../lib/testing/manual-clock.js';

const TYPES: LeaseEventType[] = [
  'acquired',
  'busy',
  'jeopardy',
  'lost',
  'released',
  'release-failed',
  'unsettled',
  'stalled',
  'server-clock-back',
];

export const DEFAULTS: LeaseDefaults = { ttlMs: 30_000, waitMs: 0, commandTimeoutMs: 5000 };

/** A lease engine on a clock that stands still, over a store whose calls go wrong as told. */
export class LeaseRig {
  readonly events: LeaseEvent[] = [];
  readonly faulty: FaultyLeaseStore;
  readonly engine: LeaseEngine;

  constructor(
    readonly clock = new ManualClock(),
    readonly store = new MemoryLeaseStore({ clock }),
    options: { maxQueue?: number; holder?: string } = {},
  ) {
    const events = new LeaseEvents();
    for (const type of TYPES) events.on(type, (event) => this.events.push(event));
    this.faulty = new FaultyLeaseStore(store, { clock });
    this.engine = new LeaseEngine({ store: this.faulty, clock, events, defaults: DEFAULTS, holder: 'test:1', ...options });
  }

  /** Another process on the same store and clock. */
  rival(): LeaseRig {
    return new LeaseRig(this.clock, this.store, { holder: 'rival:2' });
  }

  acquire(key: string, options: AcquireOptions = {}): Promise<Lease> {
    return this.engine.acquire(key, resolveAcquireOptions(options, DEFAULTS));
  }

  tryAcquire(key: string, options: AcquireOptions = {}): Promise<Lease | undefined> {
    return this.engine.tryAcquire(key, resolveAcquireOptions(options, DEFAULTS));
  }

  /** Deletes the key under its holder. */
  async lose(key: string): Promise<void> {
    await this.store.forceRelease(key);
  }

  told(type: LeaseEventType): LeaseEvent[] {
    return this.events.filter((event) => event.type === type);
  }

  get renewals(): number {
    return this.faulty.calls('renew').length;
  }
}

/** Watches a promise from now on; `now()` is what it has come to: its value (or 'resolved'), its error, or 'pending'. */
export function watch(promise: Promise<unknown>): { now(): Promise<unknown> } {
  let outcome: unknown = 'pending';
  promise.then(
    (value) => (outcome = value ?? 'resolved'),
    (error: unknown) => (outcome = error),
  );
  return {
    now: async () => {
      await new Promise((resolve) => setImmediate(resolve));
      return outcome;
    },
  };
}

/** What a promise has come to by now. */
export function outcomeOf(promise: Promise<unknown>): Promise<unknown> {
  return watch(promise).now();
}

/** What `fn` throws. */
export function thrownBy(fn: () => unknown): unknown {
  try {
    fn();
  } catch (error) {
    return error;
  }
  throw new Error('It threw nothing.');
}
