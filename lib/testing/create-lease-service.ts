import { LeaseEvents } from '../events/lease-events.js';
import { ClientContext } from '../execution/client-context.js';
import { LeaseContext } from '../execution/lease-context.js';
import { resolveModuleOptions } from '../lease-module-options-check.js';
import { createLeaseRuntime } from '../lease-runtime.js';
import type { LeaseService } from '../service/lease.service.js';
import { MemoryLeaseStore } from '../stores/memory/memory-lease-store.js';
import { SystemClock } from '../time/system-clock.js';
import type { LeaseTestingOptions } from './lease-testing-options.js';

/**
 * One for all services made here: nobody closes them, and each async storage that was ever used costs every asynchronous step of
 * the process. They are strangers all the same, since a context tells whose lease it is.
 */
const context = new LeaseContext();

/**
 * A `LeaseService` without Nest, for unit tests.
 *
 * ```ts
 * const reports = bindLease(new Reports(), createLeaseService());
 * ```
 */
export function createLeaseService(options: LeaseTestingOptions & { readonly events?: LeaseEvents } = {}): LeaseService {
  const { clock = new SystemClock(), store = new MemoryLeaseStore({ clock }), events = new LeaseEvents() } = options;
  const resolved = resolveModuleOptions({ store });
  return createLeaseRuntime({ options: resolved, store, clock, events, context, client: new ClientContext() }).service;
}
