import { DEFAULT_SERVICE } from '../lease.constants.js';
import { bindExecutor } from '../metadata/bind-executor.js';
import type { LeaseExecutorPort } from '../metadata/leased-call.js';
import { leaseServiceParts, type LeaseService } from '../service/lease.service.js';

/**
 * Gives an instance that Nest did not make the leases of its `@WithLease` methods, and gives the instance back. `service`: the
 * name that its decorators say, where they say one.
 */
export function bindLease<T extends object>(instance: T, leases: LeaseService, service: string = DEFAULT_SERVICE): T {
  const { calls } = leaseServiceParts(leases);
  bindExecutor(instance, calls as typeof calls & LeaseExecutorPort, service);
  return instance;
}
