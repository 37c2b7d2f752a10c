import { LeaseEvents } from '../../lib/events/lease-events.js';
import type { LeaseEvent, LeaseEventType } from '../../lib/events/lease-event.js';
import { ClientContext } from '../../lib/execution/client-context.js';
import { LeaseContext } from '../../lib/execution/lease-context.js';
import type { Lease } from '../../lib/lease/lease.js';
import { resolveModuleOptions } from '../../lib/lease-module-options-check.js';
import { createLeaseRuntime, type LeaseRuntime } from '../../lib/lease-runtime.js';
import type { LeaseModuleOptions } from '../../lib/lease-module-options.js';
import type { LeasedCall, LeasedCallOptions, ReturnShape } from '../../lib/metadata/leased-call.js';
import { MemoryLeaseStore } from '../../lib/stores/memory/memory-lease-store.js';
import { FaultyLeaseStore } from '../../lib/testing/faulty-lease-store.js';
import { ManualClock } from '../../lib/testing/manual-clock.js';

/** A lease service in memory on a clock that stands still, and what happens to it. */
export interface ServiceRig extends LeaseRuntime {
  readonly clock: ManualClock;
  readonly store: FaultyLeaseStore;
  readonly context: LeaseContext;
  readonly client: ClientContext;
  readonly events: LeaseEvents;
  /** Every event so far, of the types that were asked for. */
  readonly seen: LeaseEvent[];
}

export function serviceRig(
  options: LeaseModuleOptions = {},
  watch: readonly LeaseEventType[] = ['lost', 'released', 'release-failed', 'unsettled'],
): ServiceRig {
  const clock = new ManualClock();
  const store = new FaultyLeaseStore(new MemoryLeaseStore({ clock }), { clock });
  const events = new LeaseEvents();
  const seen: LeaseEvent[] = [];
  for (const type of watch) events.on(type, (event) => seen.push(event));
  const context = new LeaseContext();
  const client = new ClientContext();
  const resolved = resolveModuleOptions({ ...options, store });
  return {
    ...createLeaseRuntime({ options: resolved, store, clock, events, context, client }),
    clock,
    store,
    context,
    client,
    events,
    seen,
  };
}

/** A leased call as a decorated method would hand it over. */
export function leasedCall(
  key: string,
  body: (lease: Lease) => unknown,
  options: LeasedCallOptions & { readonly returns?: ReturnShape; readonly site?: string } = {},
): LeasedCall {
  const { returns = 'promise', site = 'Jobs.run', ...rest } = options;
  return { site, returns, options: rest, key: () => key, invoke: (lease) => body(lease as Lease) };
}
