import type { LeaseEvents } from '../events/lease-events.js';
import type { LeaseEngine } from '../lease/lease-engine.js';
import type { InstantOutcome, InstantRequest, ScheduledRunsPort } from '../lease/scheduled-instant.js';
import type { Clock } from '../time/clock.js';
import type { LeaseRegistry } from './lease-registry.js';

/** An instant that no clock has reached: the store answers with its time, and remembers nothing. */
const FAR_FUTURE_MS = 8e15;

/** What scheduled jobs ask of one lease service. */
export class ScheduledRuns implements ScheduledRunsPort {
  readonly clock: Clock;
  readonly events: LeaseEvents;
  readonly ttlMs: number;
  readonly unsupported: string | undefined;

  constructor(
    private readonly engine: LeaseEngine,
    private readonly registry: LeaseRegistry,
  ) {
    const { clock, events, defaults, store } = engine;
    this.clock = clock;
    this.events = events;
    this.ttlMs = defaults.ttlMs;
    this.unsupported = store.instants ? undefined : store.capabilities.name;
  }

  get stopping(): boolean {
    return this.registry.stopping;
  }

  now(): number | undefined {
    return this.engine.serverTime.now();
  }

  async ask(key: string): Promise<void> {
    const { ttlMs } = this;
    const asked = { key, instant: FAR_FUTURE_MS, schedule: '', lifeMs: 1, purpose: 'look', rerun: false } as const;
    const outcome = await this.begin({ ...asked, ttlMs, atLeastForMs: 0, patienceMs: 0 });
    if (outcome.kind === 'unavailable') throw outcome.error;
  }

  begin(request: InstantRequest): Promise<InstantOutcome> {
    return this.registry.beginInstant(request);
  }

  outside<T>(fn: () => T): T {
    return this.engine.outside(fn);
  }
}
