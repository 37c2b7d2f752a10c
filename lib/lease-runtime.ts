import type { LeaseEvents } from './events/lease-events.js';
import type { ClientContext } from './execution/client-context.js';
import type { LeaseContext } from './execution/lease-context.js';
import { LeaseExecutor } from './execution/lease-executor.service.js';
import type { ResolvedModuleOptions } from './lease-module-options-check.js';
import { LeaseEngine } from './lease/lease-engine.js';
import { LeaseRegistry } from './service/lease-registry.js';
import { ScheduledRuns } from './service/scheduled-runs.js';
import { LeaseService } from './service/lease.service.js';
import type { LeaseStore } from './stores/lease-store.js';
import type { Clock } from './time/clock.js';

export interface LeaseRuntimeOptions {
  readonly options: ResolvedModuleOptions;
  readonly store: LeaseStore;
  readonly clock: Clock;
  readonly events: LeaseEvents;
  readonly context: LeaseContext;
  readonly client: ClientContext;
}

/** The rooms of one lease service, put together; with Nest or without. */
export interface LeaseRuntime {
  readonly engine: LeaseEngine;
  readonly registry: LeaseRegistry;
  readonly executor: LeaseExecutor;
  readonly service: LeaseService;
  readonly scheduledRuns: ScheduledRuns;
}

export function createLeaseRuntime({ options, store, clock, events, context, client }: LeaseRuntimeOptions): LeaseRuntime {
  const { defaults, holder, maxQueue, shutdownGraceMs } = options;
  const engine = new LeaseEngine({ store, clock, events, defaults, holder, maxQueue });
  const registry = new LeaseRegistry({ engine, shutdownGraceMs, inside: () => context.inside() });
  const executor = new LeaseExecutor({ engine, registry, context, client });
  const service = new LeaseService({ engine, registry, calls: executor });
  return { engine, registry, executor, service, scheduledRuns: new ScheduledRuns(engine, registry) };
}
