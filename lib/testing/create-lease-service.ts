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
 * A `LeaseService` without Nest, for unit tests.
 *
 * ```ts
 * const reports = bindLease(new Reports(), createLeaseService());
 * ```
 */
export function createLeaseService(options: LeaseTestingOptions & { readonly events?: LeaseEvents } = {}): LeaseService {
  const { clock = new SystemClock(), store = new MemoryLeaseStore({ clock }), events = new LeaseEvents() } = options;
  const resolved = resolveModuleOptions({ store });
  return createLeaseRuntime({ options: resolved, store, clock, events, context: new LeaseContext(), client: new ClientContext() }).service;
}
