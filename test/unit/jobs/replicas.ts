import { LeaseEvents } from '../../../lib/events/lease-events.js';
import { ClientContext } from '../../../lib/execution/client-context.js';
import { LeaseContext } from '../../../lib/execution/lease-context.js';
import { resolveModuleOptions } from '../../../lib/lease-module-options-check.js';
import { createLeaseRuntime, type LeaseRuntime } from '../../../lib/lease-runtime.js';
import { MemoryLeaseStore } from '../../../lib/stores/memory/memory-lease-store.js';
import { FaultyLeaseStore } from '../../../lib/testing/faulty-lease-store.js';
import { ManualClock } from '../../../lib/testing/manual-clock.js';

export { rejection } from '../../support/rejection.js';

/** One replica: a lease service of its own. */
export interface Replica extends LeaseRuntime {
  readonly store: FaultyLeaseStore;
}

/** Replicas that share one store in memory, on a clock that stands still. */
export class Replicas {
  readonly clock = new ManualClock();
  readonly shared = new MemoryLeaseStore({ clock: this.clock });

  start(holder = 'replica-1'): Replica {
    const { clock } = this;
    const store = new FaultyLeaseStore(this.shared, { clock });
    const options = resolveModuleOptions({ store, holder });
    const parts = { options, store, clock, events: new LeaseEvents(), context: new LeaseContext(), client: new ClientContext() };
    return { ...createLeaseRuntime(parts), store };
  }

  /** From now on nothing of this replica reaches the store: it has crashed, as far as others can tell. */
  crash({ store }: Replica): void {
    for (const verb of ['acquire', 'renew', 'release', 'leave', 'settleEffect', 'coolDown'] as const) store.dropRequest(verb, Infinity);
  }
}
