import { LeaseEvents } from '../../lib/events/lease-events.js';
import type { LeaseEvent, LeaseEventType } from '../../lib/events/lease-event.js';
import { ClientContext } from '../../lib/execution/client-context.js';
import { LeaseContext } from '../../lib/execution/lease-context.js';
import { resolveModuleOptions } from '../../lib/lease-module-options-check.js';
import { createLeaseRuntime, type LeaseRuntime } from '../../lib/lease-runtime.js';
import type { LeaseModuleOptions } from '../../lib/lease-module-options.js';
import { RedisLeaseStore } from '../../lib/stores/redis/redis-lease-store.js';
import { FaultyLeaseStore } from '../../lib/testing/faulty-lease-store.js';
import type { Clock } from '../../lib/time/clock.js';
import { SystemClock } from '../../lib/time/system-clock.js';

/** A lease service of its own on a real Redis, whose calls can be made to go wrong, and what happens to it. */
export interface Holder extends LeaseRuntime {
  readonly store: FaultyLeaseStore;
  readonly events: LeaseEvents;
  /** Every event of a lease so far. */
  readonly seen: LeaseEvent[];
  /** What the store has warned of so far. */
  readonly warnings: readonly string[];
  /** Types of the events so far. */
  types(): LeaseEventType[];
  close(): Promise<void>;
}

const WATCHED: readonly LeaseEventType[] = [
  ...(['acquired', 'busy', 'jeopardy', 'lost', 'released', 'release-failed'] as const),
  ...(['unsettled', 'stalled', 'server-clock-back', 'amnesia'] as const),
];

/** Starts one; `connection` may lead through a proxy. It opens nothing before its first call. */
export function startHolder(options: LeaseModuleOptions, clock: Clock = new SystemClock()): Holder {
  const resolved = resolveModuleOptions(options);
  const { connection, namespace, fenceRetentionMs, defaults, durability, amnesiaGuardMs } = resolved;
  const reached = connection === undefined ? {} : { connection };
  const patienceMs = defaults.commandTimeoutMs;
  const redis = new RedisLeaseStore({ ...reached, namespace, fenceRetentionMs, patienceMs, durability, amnesiaGuardMs });
  const warnings: string[] = [];
  redis.onNotice((notice) => notice.kind === 'warning' && warnings.push(notice.message));
  const store = new FaultyLeaseStore(redis);
  const events = new LeaseEvents();
  const seen: LeaseEvent[] = [];
  for (const type of WATCHED) events.on(type, (event) => seen.push(event));
  const context = new LeaseContext();
  const runtime = createLeaseRuntime({ options: resolved, store, clock, events, context, client: new ClientContext() });
  return {
    ...runtime,
    store,
    events,
    seen,
    warnings,
    types: () => seen.map(({ type }) => type),
    close: async () => {
      await runtime.engine.close();
      await store.close();
      context.onApplicationShutdown();
    },
  };
}
